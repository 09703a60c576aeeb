"""What a profile claims of reasoning: the fields it stands in, and whether it must be sent back."""

from conformance import profiles
from conformance.rules._context import Context, bites, listed
from conformance.wire.reasoning import CANONICAL


def in_replies(context: Context) -> tuple[str, ...]:
    """Return the fields in which this reply may hold reasoning: what the request asked for, else the usual ones."""
    if not context.claims:
        return ()
    body = context.exchange.request
    for switch in context.claim("reasoning.response-field-switches", ()) if type(body) is dict else ():
        if profiles.matches(switch, body):
            return listed(switch["field"])
    return listed(context.claim("reasoning.response-field"))


def in_requests(context: Context) -> tuple[str, ...]:
    """Return the fields that the provider reads, the canonical ones where nothing is claimed or none is read."""
    return tuple([field for field in listed(context.claim("reasoning.request-field")) if field != "none"]) or CANONICAL


def preserved(context: Context) -> bool:
    """Say whether the request asks the provider to read the reasoning of every turn."""
    for keeper in context.claim("thinking.preserve", ()):
        if profiles.matches(keeper, context.exchange.request):
            return bool(keeper["keeps"])
    return False


def omission(*, current: bool) -> str:
    """Return the claim that says what becomes of a tool turn without reasoning."""
    return "reasoning.omitted-on-tool-turn" if current else "reasoning.omitted-on-earlier-tool-turn"


def demanded(context: Context, *, current: bool) -> bool:
    """Say whether the provider is known to demand the reasoning of a tool turn in this request."""
    return bites(context.claims.get(omission(current=current))) and context.thinks is True
