"""OTLP over HTTP, with protobuf bodies."""

import ssl
import time
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from asz import __version__
from asz.export.endpoint import Receiver
from asz.export.exchange import (
    Answer,
    Failed,
    Later,
    Scope,
    Signal,
    TooLarge,
    read_response,
    read_status,
    shortened,
)

PROTOBUF: Final = "application/x-protobuf"
_PROTOBUF_TOO: Final = frozenset((PROTOBUF, "application/protobuf"))
LONGEST_ANSWER: Final = 1 << 20
"""Bytes of an answer that are read; a response of OTLP is far smaller."""

_SCOPES: Final[dict[int, Scope]] = {400: "request", 422: "request", 500: "request"}
_ABOUT_THE_RECEIVER: Final = frozenset((401, 403, 407, 408, 502, 503, 504))
"""Statuses that the other signal would get as well; what is in neither is about the signal's path."""


class HttpTransport:
    """Connections to one receiver."""

    def __init__(self, receiver: Receiver) -> None:
        scheme = "https" if receiver.tls else "http"
        self._base = f"{scheme}://{receiver.authority}{receiver.path}"
        self._timeout = receiver.timeout
        context = ssl.create_default_context()
        if receiver.authorities is not None:
            context = ssl.create_default_context(cadata=receiver.authorities.decode("ascii"))
        self._client = httpx.Client(
            headers={
                **receiver.headers,
                "content-type": PROTOBUF,
                "user-agent": f"asz/{__version__}",
            },
            verify=context,
            trust_env=not receiver.local,  # no proxy on the way to this machine
            follow_redirects=False,
            timeout=receiver.timeout,
        )

    def send(self, signal: Signal, body: bytes) -> Answer:
        """Send one encoded request and wait for the answer."""
        url = self._base + signal.path
        until = time.monotonic() + self._timeout
        try:
            with self._client.stream("POST", url, content=body) as response:
                answer = bytearray()
                for chunk in response.iter_bytes():
                    answer += chunk
                    if time.monotonic() > until:
                        raise httpx.ReadTimeout("slow answer")
                    if len(answer) > LONGEST_ANSWER:
                        break
        except httpx.TimeoutException:
            return Failed(f"did not answer within {self._timeout:g} seconds", "receiver")
        except httpx.RemoteProtocolError as error:
            return Failed(f"does not answer as HTTP does: {shortened(str(error))}", "receiver")
        except httpx.RequestError as error:
            reason = shortened(str(error)) or type(error).__name__
            return Failed(f"cannot be reached: {reason}", "receiver")
        return _read(signal, response, bytes(answer))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _read(signal: Signal, response: httpx.Response, body: bytes) -> Answer:
    """What an answer means."""
    status = response.status_code
    type_ = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    protobuf = type_ in _PROTOBUF_TOO
    message, seconds = read_status(body) if protobuf and not response.is_success else ("", None)
    said = f"answered {status}" + (f": {message}" if message else "")
    if response.is_success:
        whole = len(body) <= LONGEST_ANSWER  # else it was not read to its end
        readable = whole and (protobuf or not type_ or not body)
        taken = read_response(signal, body) if readable else None
        if taken is None:
            what = shortened(type_) or "something that is no OTLP response"
            return Failed(f"{said} with {what}; is it an OTLP receiver?", "signal")
        return taken
    if response.has_redirect_location:
        target = shortened(response.headers["location"])
        return Failed(f"{said}, redirecting to {target}; redirects are not followed", "signal")
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return TooLarge(message)
    after = _retry_after(response.headers.get("retry-after", ""))
    asked = after if after is not None else seconds
    if status == httpx.codes.TOO_MANY_REQUESTS or (
        status == httpx.codes.SERVICE_UNAVAILABLE and asked is not None
    ):
        return Later(asked, message)
    scope = "receiver" if status in _ABOUT_THE_RECEIVER else _SCOPES.get(status, "signal")
    return Failed(said, scope)


def _retry_after(text: str) -> float | None:
    """Seconds a ``Retry-After`` header asks for: a number, or a date."""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
