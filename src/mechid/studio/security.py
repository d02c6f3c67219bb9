"""Who may ask: the browser that was given the token, from the page itself, by the right name."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hmac import compare_digest
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-mechid"
_CHANGING = {"POST", "PUT", "PATCH", "DELETE"}
_INLINE = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL)
_COMMON = "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; "
    + _COMMON
)
# Of pages that are complete in themselves: they run in an origin of their own and reach nothing.
ALONE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data: blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; sandbox allow-scripts allow-downloads; " + _COMMON
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def hashed_policy(page: str) -> str:
    """Return the policy of a page that has scripts and styles inside, allowed by their hashes."""
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, attributes, text in _INLINE.findall(page):
        if text and "application/json" not in attributes:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            allowed[kind].append(f"'sha256-{digest}'")
    return "; ".join(
        [
            PAGE_POLICY,
            *(f"{k}-src 'self' {' '.join(hashes)}" for k, hashes in allowed.items() if hashes),
        ]
    )


@dataclass(frozen=True)
class Keys:
    """Secrets of one server: the token of its address, and what the cookie says."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))


class Guard:
    """Lets through what comes from the studio's own page, and puts safe headers on answers.

    Parameters
    ----------
    app : ASGI application
    keys : Keys
    port : int
        Of the server; `Host` must be 127.0.0.1 or localhost with this port.
    """

    def __init__(self, app: ASGIApp, keys: Keys, port: int) -> None:
        self._app = app
        self._keys = keys
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"mechid-studio-{port}"  # cookies are shared by all ports of a host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket; nothing here speaks it: 403
            await send({"type": "websocket.close"})
            return
        refusal = self._refusal(scope)
        send = _with_headers(send)
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, method = Headers(scope=scope), scope["method"]
        if headers.get("host", "") not in self._hosts:
            return _no(421, "wrong host")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return _no(403, "cross-origin request")
        if scope["path"] == "/" and method == "GET" and b"token=" in scope["query_string"]:
            return self._enter(scope)
        site = headers.get("sec-fetch-site")
        allowed = ("same-origin",) if method in _CHANGING else ("same-origin", "none")
        if site is not None and site not in allowed:
            return _no(403, "cross-site request")
        cookie = _cookies(headers.getlist("cookie")).get(self._cookie, "")
        if not compare_digest(cookie.encode(), self._keys.session.encode()):
            return _no(403, "open the address that mechid studio printed in the terminal")
        if method in _CHANGING and headers.get(HEADER) != "1":
            return _no(403, "the header X-Mechid is missing")
        return None

    def _enter(self, scope: Scope) -> Response:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not compare_digest(given.encode(), self._keys.token.encode()):
            return _no(403, "wrong token: open the address that mechid studio printed last")
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            self._cookie, self._keys.session, httponly=True, samesite="strict", path="/"
        )
        return answer


def _cookies(lines: Iterable[str]) -> dict[str, str]:
    return {name: value for line in lines for name, value in cookie_parser(line).items()}


def _no(status: int, words: str) -> Response:
    return PlainTextResponse(f"refused: {words}\n", status_code=status)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("content-security-policy", PAGE_POLICY)
        await send(message)

    return sent
