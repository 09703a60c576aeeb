"""The comparisons of a case: what replies must hold, whatever a model says. Each is a probe result of that name."""

from collections.abc import Mapping
from typing import Final

AS_SCRIPTED: Final = "as-scripted"
"""The check that replies say what the script says; it is only in the results if it fails."""

RESULTS_PAIRED: Final = "results-paired"
"""The check that an answer contains each result, with its own call."""

ARGUMENTS_ECHOED: Final = "arguments-echoed"
"""The check that a call has the arguments that the user's message gives word for word."""

TWINS_AGREE: Final = "twins-agree"
"""The check that replies to one request, plain and streamed, agree in what is not the model's choice."""

TITLES: Final[Mapping[str, str]] = {
    AS_SCRIPTED: "Replies say what the script says, to the character.",
    RESULTS_PAIRED: "The answer contains each result, with its own call.",
    ARGUMENTS_ECHOED: "The call has the arguments that the message gives word for word.",
    TWINS_AGREE: "The replies to one request, plain and streamed, agree in what is not the model's choice.",
}

COMPARISONS: Final = tuple(TITLES)
