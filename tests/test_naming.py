"""What people call a provider finds its profile, its model, or an error that says how to name it."""

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import load_profile
from conformance.errors import AmbiguousName, UnknownName
from conformance.profiles import installed, load, names, naming
from conformance.profiles.claims import fits_glob
from conformance.profiles.files import FOLDER
from conformance.profiles.naming import Resolved, find, fold, resolve
from conformance.profiles.texts import Outline, outline, outlines, shipped
from tests.loops import every

CALLED = {
    "deepseek": ["DeepSeek", "deep seek", "DEEPSEEK", "Deep-Seek", "deepseek.com"],
    "moonshot": ["kimi", "Kimi", "moonshotai", "Moonshot AI", "moonshot-ai", "Moonshot AI (Kimi)"],
    "anthropic": ["claude", "Claude", "anthropic api"],
    "xai": ["grok", "x.ai", "xAI", "x-ai"],
    "zai": ["glm", "zhipu", "Zhipu AI", "z.ai", "Z.ai (Zhipu GLM)", "bigmodel"],
    "alibaba_qwen": ["qwen", "Qwen", "dashscope", "alibaba", "Model Studio"],
    "bedrock": ["aws", "amazon", "AWS Bedrock", "Amazon Bedrock"],
    "openai": ["gpt", "chatgpt", "ChatGPT", "Open AI", "codex"],
    "gemini": ["google", "Google AI Studio", "google-genai"],
    "vertex": ["vertex ai", "Vertex AI", "vertexai", "google vertex"],
    "azure_openai": ["azure", "Azure OpenAI", "azure-openai", "microsoft"],
    "github_copilot": ["copilot", "GitHub Copilot"],
    "huggingface": ["hf", "Hugging Face", "hugging-face"],
    "nvidia": ["nim", "NVIDIA NIM", "nvidia-nim"],
    "together": ["together ai", "Together.AI", "togethercomputer"],
    "llamacpp": ["llama.cpp", "llama-server"],
    "moonshot.messages": ["kimi.messages"],
}

MODELS = {
    "Kimi K2": ("moonshot", "kimi-k2"),
    "claude-opus-4.5": ("anthropic", "claude-opus-4-5"),
    "Claude Opus 4.6": ("anthropic", "claude-opus-4-6"),
    "Claude Opus 5.5": ("anthropic", "claude-opus-5-5"),
    "claude-sonnet-5.5": ("anthropic", "claude-sonnet-5-5"),
    "gpt-5.4": ("openai", "gpt-5.4"),
    "deepseek-v4-flash": ("deepseek", "deepseek-v4-flash"),
    "DeepSeek V4 Flash": ("deepseek", "deepseek-v4-flash"),
    "gpt-5": ("openai", "gpt-5"),
    "o3": ("openai", "o3"),
    "GLM 4.6": ("zai", "glm-4.6"),
    "Mistral Large": ("mistral", "mistral-large"),
    "kimi-k2 at groq": ("groq", "moonshotai/kimi-k2-instruct"),
    "Kimi K2 on Groq": ("groq", "moonshotai/kimi-k2-instruct"),
    "groq/kimi-k2": ("groq", "moonshotai/kimi-k2-instruct"),
    "kimi-k2@groq": ("groq", "moonshotai/kimi-k2-instruct"),
    "zai-org/GLM-4.6:cerebras": ("cerebras", "zai-org/GLM-4.6"),
    "groq kimi k2": ("groq", "moonshotai/kimi-k2-instruct"),
    "openrouter:anthropic/claude-sonnet-4.5": ("openrouter", "anthropic/claude-sonnet-4.5"),
    "moonshotai/kimi-k2.6": ("moonshot", "kimi-k2.6"),
    "grok 4 azure": ("azure_openai", "grok-4"),
    "gpt-5 on azure": ("azure_openai", "gpt-5"),
    "Sonnet 4.6": ("anthropic", "claude-sonnet-4-6"),
    "Opus 4.5": ("anthropic", "claude-opus-4-5"),
    "gpt-4o-mini": ("openai", "gpt-4o-mini"),
    "azure gpt4o": ("azure_openai", "gpt4o"),
    "together ai llama": ("together", "llama"),
    "vertex claude": ("vertex", "claude"),
    "novita glm 4.6": ("novita", "glm-4.6"),
}


@every(("expected", "text"), [(name, text) for name, calls in CALLED.items() for text in calls])
def test_names_aliases_and_titles_find_the_profile(expected: str, text: str) -> None:
    assert (expected, "") == tuple(resolve(text))


@every(("text", "expected"), MODELS.items())
def test_models_find_their_vendor_or_the_host_that_is_named(text: str, expected: tuple[str, str]) -> None:
    assert expected == tuple(resolve(text))


@every(
    ("text", "expected"),
    [("硅基流动", "siliconflow"), ("阿里云百炼", "alibaba_qwen"), ("智谱 AI", "zai"), ("月之暗面", "moonshot")],
)
def test_names_in_chinese_find_the_profile(text: str, expected: str) -> None:
    assert expected == resolve(text).profile


@every("text", ["off", "on", "open", "other"])
def test_a_word_is_no_model_of_a_family_of_one_letter(text: str) -> None:
    assert find(text) is None
    assert Resolved("openai", "o5") == find("o5")


def test_a_resolved_model_is_the_one_that_a_run_asks_for() -> None:
    profile = load_profile("Kimi K2 at groq")

    assert ("groq", "moonshotai/kimi-k2-instruct") == (profile.name, profile.model)


def test_every_title_finds_its_own_profile() -> None:
    assert names() == tuple([resolve(load(name).title).profile for name in names()])


def test_no_two_profiles_share_a_name_an_alias_or_a_title() -> None:
    shared = {word: found for word, found in naming._words().providers.items() if len(found) > 1}

    assert {} == shared


@every("text", ["gpt-oss-120b", "llama-3.3-70b", "openai/gpt-oss-120b"])
def test_an_ambiguous_model_lists_how_to_name_each_host(text: str) -> None:
    with pytest.raises(AmbiguousName) as error:
        resolve(text)

    said, _, listed = str(error.value).partition("; name one of them: ")
    ways = [each for each in listed.split(", ") if "/" in each]
    assert f"{text!r} fits more than one host" == said
    assert [each.partition("/")[0] for each in ways] == [resolve(each).profile for each in ways]
    assert [each.partition("/")[2] for each in ways] == [resolve(each).model for each in ways]


@every(
    ("text", "name"),
    [("kimmi", "moonshot"), ("cluade", "anthropic"), ("cluade-opus-4.5", "anthropic"), ("dashscop", "alibaba_qwen")],
)
def test_the_nearest_names_come_from_aliases_and_models_too(text: str, name: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown provider '{text}'; did you mean .*{name}"):
        resolve(text)


def test_the_hosts_of_a_model_are_listed_with_its_vendor_first_and_their_own_names() -> None:
    hosts = naming.serving("deepseek-v4-flash")

    assert "deepseek" == next(iter(hosts))
    assert "deepseek/deepseek-v4-flash" == hosts["openrouter"]
    assert "accounts/fireworks/models/deepseek-v4-flash" == hosts["fireworks"]


def test_folding_ignores_case_spaces_and_punctuation() -> None:
    assert {"zai"} == {fold("Z.ai"), fold("z-ai"), fold("Z AI"), fold("z_ai")}


@every("name", ["deepseek", "openrouter", "bedrock_openai_compat", "azure_foundry"])
def test_the_lines_of_a_profile_show_every_model_that_it_lists(name: str) -> None:
    profile = load(name)
    wires = (profile, *profile.protocols.values())
    expected = {model.name for each in wires for model in each.models} | {each.model for each in wires if each.model}
    assert expected == {model for each in outlines() if each.name == name for model in each.models}


@given(name=st.text("ab*?[]-", max_size=6), glob=st.text("ab*?[]-!", max_size=6))
def test_a_glob_fits_as_fnmatch_has_it(name: str, glob: str) -> None:
    assert fnmatchcase(name, glob) == fits_glob(name, glob)


def test_what_is_kept_of_the_lines_of_profiles_is_what_their_files_say() -> None:
    expected = [outline(name, (FOLDER / f"{name}.yaml").read_text("utf-8")) for name in names()]

    assert expected == list(shipped())
    assert (True, False) == (of_provider("openai").has_wire("responses"), of_provider("openai").has_wire("gemini"))


def of_provider(name: str) -> Outline:
    return next(each for each in shipped() if each.name == name)


def test_packages_are_asked_for_profiles_only_if_one_may_offer_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_asked(*path: Path) -> bool:
        monkeypatch.setattr(sys, "path", list(map(str, path)))
        return installed.may_be_any()

    metadata = tmp_path / "one-1.0.dist-info"
    metadata.mkdir()
    assert not is_asked(tmp_path, tmp_path / "missing")
    (metadata / "entry_points.txt").write_text("[console_scripts]\none = one:main\n")
    assert not is_asked(tmp_path)
    (metadata / "entry_points.txt").write_text(f"[{installed.GROUP}]\none = one\n")
    assert is_asked(tmp_path)
    # What is not a folder is read by the library.
    archive = tmp_path / "two.zip"
    archive.write_bytes(b"PK")
    assert is_asked(archive)
    assert is_asked(tmp_path / "three.egg")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, SimpleNamespace(find_distributions=list)])
    assert is_asked()
