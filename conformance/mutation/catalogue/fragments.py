"""Vices of streamed tool calls: their fragments, and the index, id, name and arguments in these."""

# ruff: noqa: D401 — the first line of a vice's docstring is the fault, told as a fact

from conformance.mutation import targets
from conformance.mutation.definition import vice
from conformance.mutation.targets import Call, Reply, streaming


@vice(streaming(targets.calling_twice), "stream/index-distinct")
def index_always_0(reply: Reply) -> None:
    """All calls of a stream have the index 0."""
    for call in reply.calls:
        for fragment in call.fragments:
            fragment["index"] = 0


@vice(streaming(targets.calling), "stream/index-present")
def index_missing(reply: Reply) -> None:
    """The calls of a stream have no index."""
    for call in reply.calls:
        for fragment in call.fragments:
            del fragment["index"]


@vice(targets.fragmented_calls, "stream/index-present")
def index_missing_later(call: Call) -> None:
    """The second fragment of a call has no index."""
    del call.fragments[1]["index"]


@vice(streaming(targets.calling), "shape/chunk", kin=("stream/index-present",))
def index_as_string(reply: Reply) -> None:
    """The index of a stream's calls is a string."""
    for call in reply.calls:
        for fragment in call.fragments:
            fragment["index"] = str(fragment["index"])


@vice(streaming(targets.calling), "stream/index-contiguous")
def index_gap(reply: Reply) -> None:
    """The indexes of a stream's calls begin at 1."""
    for call in reply.calls:
        for fragment in call.fragments:
            fragment["index"] += 1


@vice(streaming(targets.calling_twice), "stream/index-contiguous")
def index_skipped(reply: Reply) -> None:
    """The index of the last call of a stream leaves one out."""
    for fragment in reply.calls[-1].fragments:
        fragment["index"] += 1


@vice(targets.fragmented_calls, "stream/id-once")
def id_in_each_delta(call: Call) -> None:
    """Each fragment of a call bears its id."""
    for fragment in call.fragments:
        fragment["id"] = call.first["id"]


@vice(targets.fragmented_calls, "stream/id-once")
def id_empty_in_later_deltas(call: Call) -> None:
    """The later fragments of a call have an empty id."""
    for fragment in call.fragments[1:]:
        fragment["id"] = ""


@vice(targets.fragmented_calls, "stream/id-once")
def id_late(call: Call) -> None:
    """The id of a call comes with its second fragment."""
    call.fragments[1]["id"] = call.first.pop("id")


@vice(targets.reply_calls, "tool-calls/id-not-empty", "shape/choice")
def id_missing(call: Call) -> None:
    """A call has no id at all."""
    del call.first["id"]


@vice(
    targets.fragmented_calls,
    "stream/index-distinct",
    kin=(
        "stream/name-once",
        "tool-calls/arguments-are-an-object",
    ),
)
def id_new_in_each_delta(call: Call) -> None:
    """Each fragment of a call bears a new id."""
    for number, fragment in enumerate(call.fragments):
        fragment["id"] = f"call_{number}"


@vice(targets.fragmented_calls, "stream/name-once")
def name_in_each_delta(call: Call) -> None:
    """Each fragment of a call bears its name."""
    for fragment in call.fragments:
        fragment["function"]["name"] = call.first["function"]["name"]


@vice(targets.fragmented_calls, "stream/name-once", kin=("tool-calls/name-declared",))
def name_in_pieces(call: Call) -> None:
    """The name of a call comes in two pieces."""
    name = call.first["function"]["name"]
    call.first["function"]["name"], call.fragments[1]["function"]["name"] = name[:4], name[4:]


@vice(targets.fragmented_calls, "stream/name-once")
def name_missing(call: Call) -> None:
    """A call of a stream is never named."""
    del call.first["function"]["name"]


@vice(targets.fragmented_calls, "stream/first-fragment-has-arguments")
def arguments_absent_at_first(call: Call) -> None:
    """The first fragment of a call has no arguments."""
    del call.first["function"]["arguments"]


@vice(targets.fragmented_calls, "stream/first-fragment-has-arguments")
def arguments_null_at_first(call: Call) -> None:
    """The first fragment of a call has null for arguments."""
    call.first["function"]["arguments"] = None


@vice(streaming(targets.calling), "tool-calls/arguments-are-an-object")
def fragment_lost(reply: Reply) -> None:
    """A fragment of the arguments is lost on the way."""
    fragments = [each for each in reply.calls[-1].fragments if each["function"]["arguments"]]
    fragments[0]["function"]["arguments"] = ""


@vice(targets.fragmented_calls, "tool-calls/arguments-are-an-object")
def arguments_cumulative(call: Call) -> None:
    """Each fragment of a call brings all of the arguments so far."""
    so_far = ""
    for fragment in call.fragments:
        so_far += fragment["function"]["arguments"]
        fragment["function"]["arguments"] = so_far


@vice(targets.fragmented_calls, "stream/name-once")
def name_late(call: Call) -> None:
    """The name of a call comes with its second fragment."""
    call.fragments[1]["function"]["name"] = call.first["function"].pop("name")


@vice(targets.fragmented_calls, "shape/chunk", kin=("stream/index-contiguous",))
def index_negative(call: Call) -> None:
    """The index of a call is below 0."""
    for fragment in call.fragments:
        fragment["index"] = -1
