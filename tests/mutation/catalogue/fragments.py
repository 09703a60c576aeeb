"""Faults of streamed tool calls: their fragments, and the index, id, name and arguments in them."""

from tests.mutation import targets
from tests.mutation.definition import mutation
from tests.mutation.targets import Call, Reply, streaming


@mutation(streaming(targets.replies_with_several_calls), "stream/index-distinct")
def index_always_0(reply: Reply) -> None:
    """All calls of a stream have the index 0."""
    for call in reply.calls:
        for fragment in call.fragments:
            fragment["index"] = 0


@mutation(streaming(targets.replies_with_calls), "stream/index-present")
def index_missing(reply: Reply) -> None:
    """The calls of a stream have no index."""
    for call in reply.calls:
        for fragment in call.fragments:
            del fragment["index"]


@mutation(targets.fragmented_calls, "stream/index-present")
def index_missing_later(call: Call) -> None:
    """The second fragment of a call has no index."""
    del call.fragments[1]["index"]


@mutation(streaming(targets.replies_with_calls), "shape/chunk", related=("stream/index-present",))
def index_as_string(reply: Reply) -> None:
    """The index of a stream's calls is a string."""
    for call in reply.calls:
        for fragment in call.fragments:
            fragment["index"] = str(fragment["index"])


@mutation(streaming(targets.replies_with_calls), "stream/index-contiguous")
def index_gap(reply: Reply) -> None:
    """The indexes of a stream's calls start at 1."""
    for call in reply.calls:
        for fragment in call.fragments:
            fragment["index"] += 1


@mutation(streaming(targets.replies_with_several_calls), "stream/index-contiguous")
def index_skipped(reply: Reply) -> None:
    """The index of the last call of a stream skips a number."""
    for fragment in reply.calls[-1].fragments:
        fragment["index"] += 1


@mutation(targets.fragmented_calls, "stream/id-once")
def id_in_each_delta(call: Call) -> None:
    """Each fragment of a call has its id."""
    for fragment in call.fragments:
        fragment["id"] = call.first["id"]


@mutation(targets.fragmented_calls, "stream/id-once")
def id_empty_in_later_deltas(call: Call) -> None:
    """The later fragments of a call have an empty id."""
    for fragment in call.fragments[1:]:
        fragment["id"] = ""


@mutation(targets.fragmented_calls, "stream/id-once")
def id_late(call: Call) -> None:
    """The id of a call comes with its second fragment."""
    call.fragments[1]["id"] = call.first.pop("id")


@mutation(targets.reply_calls, "tool-calls/id-not-empty", "shape/choice")
def id_missing(call: Call) -> None:
    """A call has no id at all."""
    del call.first["id"]


@mutation(
    targets.fragmented_calls,
    "stream/index-distinct",
    related=(
        "stream/name-once",
        "tool-calls/arguments-are-an-object",
        "tool-calls/type-present",
    ),
)
def id_new_in_each_delta(call: Call) -> None:
    """Each fragment of a call has a new id."""
    for number, fragment in enumerate(call.fragments):
        fragment["id"] = f"call_{number}"


@mutation(targets.fragmented_calls, "stream/name-once")
def name_in_each_delta(call: Call) -> None:
    """Each fragment of a call has its name."""
    for fragment in call.fragments:
        fragment["function"]["name"] = call.first["function"]["name"]


@mutation(targets.fragmented_calls, "stream/name-once", related=("tool-calls/name-declared",))
def name_split(call: Call) -> None:
    """The name of a call is split over two fragments."""
    name = call.first["function"]["name"]
    call.first["function"]["name"], call.fragments[1]["function"]["name"] = name[:4], name[4:]


@mutation(targets.fragmented_calls, "stream/name-once")
def name_missing(call: Call) -> None:
    """A streamed call has no name."""
    del call.first["function"]["name"]


@mutation(targets.fragmented_calls, "stream/first-fragment-has-arguments")
def arguments_absent_at_first(call: Call) -> None:
    """The first fragment of a call has no arguments."""
    del call.first["function"]["arguments"]


@mutation(targets.fragmented_calls, "stream/first-fragment-has-arguments")
def arguments_null_at_first(call: Call) -> None:
    """The arguments in the first fragment of a call are null."""
    call.first["function"]["arguments"] = None


@mutation(streaming(targets.replies_with_calls), "tool-calls/arguments-are-an-object")
def fragment_lost(reply: Reply) -> None:
    """A fragment of the arguments is lost on the way."""
    fragments = [each for each in reply.calls[-1].fragments if each["function"]["arguments"]]
    fragments[0]["function"]["arguments"] = ""


@mutation(targets.fragmented_calls, "stream/deltas-not-cumulative")
def arguments_cumulative(call: Call) -> None:
    """Each fragment of a call holds all arguments so far."""
    so_far = ""
    for fragment in call.fragments:
        so_far += fragment["function"]["arguments"]
        fragment["function"]["arguments"] = so_far


@mutation(targets.fragmented_calls, "stream/name-once")
def name_late(call: Call) -> None:
    """The name of a call comes with its second fragment."""
    call.fragments[1]["function"]["name"] = call.first["function"].pop("name")


@mutation(targets.fragmented_calls, "shape/chunk", related=("stream/index-contiguous",))
def index_negative(call: Call) -> None:
    """The index of a call is negative."""
    for fragment in call.fragments:
        fragment["index"] = -1
