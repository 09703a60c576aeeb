"""Parallel calls come in another order than the question names them, which a model is free to choose."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, results, set_arguments, set_text, text

SOURCE = "https://github.com/can1357/oh-my-pi/issues/11179"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Exchange the arguments of the first two calls, and their results in the answer."""
    made, found = calls(sent), [str(each.get("content")) for each in results(sent.request)]
    if len(made) > 1:
        first, second = arguments(made[0]), arguments(made[1])
        set_arguments(made[0], second)
        set_arguments(made[1], first)
    elif len(found) > 1 and not made:
        first, second = found[:2]
        set_text(sent, text(sent).replace(first, "\0").replace(second, first).replace("\0", second))
    return sent
