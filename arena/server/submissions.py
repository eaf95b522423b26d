"""The service of bots: takes what is submitted, and tells what becomes of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import grpc
from botarena.v1 import api_bots_pb2 as api
from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceServicer, add_BotCatalogServiceServicer_to_server

from arena.errors import NotAllowedError, NotFoundError, StateError, TooMuchError, UsageError
from arena.games import find_game
from arena.rights import Caller
from arena.server.background import apart
from arena.server.caller import CALLER, caller
from arena.server.catalog import image_spec, remote_spec, reserved_names, split_reference
from arena.server.checking import Checker
from arena.server.images import Images, image_upload
from arena.server.pages import page_of
from arena.server.uploads import Upload, UploadError, UploadLimits, code_upload, too_large
from arena.store.accounts import Accounts
from arena.store.quotas import Quotas
from arena.store.roster import (
    ARCHIVE,
    IMAGE,
    KINDS,
    REMOTE,
    SUPERSEDED,
    NewVersion,
    Roster,
    RosterBot,
    RosterVersion,
    check_name,
)

_Context = grpc.aio.ServicerContext[Any, Any]
_Piece: TypeAlias = "api.SubmitBotRequest | api.SubmitImageRequest"
P = TypeVar("P", api.SubmitBotRequest, api.SubmitImageRequest)
T = TypeVar("T")

_CHUNK = 1 << 20
_NOTES = 1000
_REASON = 300
_PATIENCE_S = 60.0
_WHOLE_S = 1800.0
_AT_ONCE = 8
_EACH_AT_ONCE = 2
_STATES: Mapping[str, api.VersionState.ValueType] = {
    name.removeprefix("VERSION_STATE_").lower(): number for name, number in api.VersionState.items()
}
_KINDS: Mapping[str, api.VersionKind.ValueType] = {
    kind: api.VersionKind.Value(f"VERSION_KIND_{kind.upper()}") for kind in KINDS
}


@dataclass(frozen=True, slots=True)
class _Bot:
    """Of which bot a version is submitted.

    Attributes:
        name: its name.
        owner: row number of whose it is, or will be.
        quotas: of that user.
    """

    name: str
    owner: int
    quotas: Quotas


class Submissions:
    """The part of a server that takes submissions.

    Args:
        roster: where bots are kept.
        accounts: knows what their owners may have.
        checker: builds and checks what was submitted.
        limits: what an archive or image may be.
        images: takes images; None: this server runs no containers.
    """

    def __init__(
        self,
        roster: Roster,
        accounts: Accounts,
        checker: Checker,
        limits: UploadLimits | None = None,
        images: Images | None = None,
    ) -> None:
        self._service = BotCatalogService(roster, accounts, checker, limits or UploadLimits(), images)

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_BotCatalogServiceServicer_to_server(self._service, server)

    async def start(self) -> None:
        """Nothing goes on by itself here."""

    async def stop(self) -> None:
        """Nothing goes on by itself here."""


class BotCatalogService(BotCatalogServiceServicer):
    """Bots and their versions, for whoever may know of them."""

    def __init__(
        self,
        roster: Roster,
        accounts: Accounts,
        checker: Checker,
        limits: UploadLimits,
        images: Images | None,
    ) -> None:
        self._roster = roster
        self._accounts = accounts
        self._checker = checker
        self._limits = limits
        self._images = images
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._sending: Counter[int] = Counter()

    # submitting

    async def SubmitBot(
        self, request_iterator: AsyncIterator[api.SubmitBotRequest], context: _Context
    ) -> api.SubmitBotResponse:
        """A version as an archive of its code."""
        head = (await _first(request_iterator)).head
        of = await apart(self._submitter, caller(), head.bot)
        _check_size(head, self._limits.size_bytes)
        upload = await apart(code_upload, self._limits)
        packed = await self._receive(of, upload, request_iterator)
        new = NewVersion(
            ARCHIVE, packed.digest, packed.data, len(packed.data), _notes(head.notes), not head.inactive
        )
        version, is_new = await self._add(of, new)
        return api.SubmitBotResponse(version=version_message(version, caller()), again=not is_new)

    async def SubmitImage(
        self, request_iterator: AsyncIterator[api.SubmitImageRequest], context: _Context
    ) -> api.SubmitImageResponse:
        """A version as an image of a container."""
        first = (await _first(request_iterator)).head
        head = first.submission
        of = await apart(self._submitter, caller(), head.bot)
        images = self._container_images(head.bot)
        for game in first.games:
            find_game(game)
        if first.image:
            image, size = await apart(images.named, caller(), first.image)
        else:
            _check_size(head, self._limits.image_bytes)
            upload = await apart(image_upload, self._limits.image_bytes)
            saved = await self._receive(of, upload, request_iterator)
            image, size = await apart(images.load, saved)
        spec = image_spec(head.bot, image, tuple(first.games)).to_json()
        digest = image.removeprefix("sha256:")
        new = NewVersion(IMAGE, digest, None, size, _notes(head.notes), not head.inactive, spec)
        version, is_new = await self._add(of, new)
        return api.SubmitImageResponse(version=version_message(version, caller()), again=not is_new)

    def _container_images(self, name: str) -> Images:
        if self._images is None:
            raise StateError(
                f"{name} cannot be an image", "this server runs no containers", "submit its code"
            )
        return self._images

    async def _receive(self, of: _Bot, upload: Upload[T], requests: AsyncIterator[_Piece]) -> T:
        """All that is sent of a submission."""
        try:
            with self._counted(of.owner):
                async with self._slots, asyncio.timeout(_WHOLE_S):
                    async for chunk in _chunks(requests):
                        await apart(upload.feed, chunk)
                    return await apart(upload.finish)
        except TimeoutError:
            raise TooMuchError(
                "the submission is refused", f"it took longer than {_WHOLE_S:g} s", "send it faster"
            ) from None
        finally:
            await apart(upload.close)

    async def RegisterRemoteBot(
        self, request: api.RegisterRemoteBotRequest, context: _Context
    ) -> api.RegisterRemoteBotResponse:
        """A bot that dials in."""
        return api.RegisterRemoteBotResponse(
            version=version_message(await apart(self._register, caller(), request), caller())
        )

    def _register(self, who: Caller, request: api.RegisterRemoteBotRequest) -> RosterVersion:
        of = self._submitter(who, request.bot)
        for game in request.games:
            find_game(game)
        _check_text("version", request.version, 80)
        spec = remote_spec(request.bot, request.version or "remote", tuple(request.games))
        version = self._known(of.name, spec.version)
        if version is None:
            new = NewVersion(REMOTE, notes=_notes(request.notes), spec=spec.to_json())
            version, _ = self._roster.submit(
                of.owner, of.name, new, quotas=of.quotas, reserved=reserved_names()
            )
        if request.HasField("mixed"):
            self._roster.update_bot(of.name, mixed=request.mixed)
        return version

    def _known(self, name: str, text: str) -> RosterVersion | None:
        """The version of a remote bot that its author calls so."""
        try:
            versions = self._roster.versions(name)
        except NotFoundError:
            return None
        same = (version for version in versions if version.kind == REMOTE)
        return next((version for version in same if version.spec.get("version") == text), None)

    async def _add(self, of: _Bot, new: NewVersion) -> tuple[RosterVersion, bool]:
        version, is_new = await apart(
            self._roster.submit, of.owner, of.name, new, quotas=of.quotas, reserved=reserved_names()
        )
        self._checker.wake()
        return version, is_new

    def _submitter(self, who: Caller, name: str) -> _Bot:
        """The bot of which somebody wants to submit a version, which may still have to be made."""
        try:
            owner = self._own(who, name).owner_id
        except NotFoundError:
            check_name(name, reserved_names())
            owner = who.user
        return _Bot(name, owner, self._accounts.user_by_id(owner).quotas)

    @contextmanager
    def _counted(self, owner: int) -> Iterator[None]:
        if self._sending[owner] >= _EACH_AT_ONCE:
            raise TooMuchError(
                "too much is being submitted",
                f"{_EACH_AT_ONCE} bots of this user are on their way",
                "wait until one is there",
            )
        self._sending[owner] += 1
        try:
            yield
        finally:
            self._sending[owner] -= 1
            if not self._sending[owner]:
                del self._sending[owner]

    # bots

    async def ListBots(self, request: api.ListBotsRequest, context: _Context) -> api.ListBotsResponse:
        """Bots, in pages."""

        def read(after: int, most: int) -> list[RosterBot]:
            filters = {"owner": request.owner, "game": request.game, "state": request.state}
            given = {name: value for name, value in filters.items() if value}
            return self._roster.bots(**given, after=after, most=most)

        bots, page = await apart(page_of, request.page, read, lambda bot: bot.id)
        return api.ListBotsResponse(bots=map(bot_message, bots), page=page)

    async def GetBot(self, request: api.GetBotRequest, context: _Context) -> api.GetBotResponse:
        """One bot."""
        return await apart(self._bot, CALLER.get(), request.bot)

    def _bot(self, who: Caller | None, name: str) -> api.GetBotResponse:
        bot = self._roster.bot(name)
        answer = api.GetBotResponse(bot=bot_message(bot))
        for newest in self._roster.versions(name, most=1):
            answer.newest.CopyFrom(version_message(newest, who))
        if bot.active is not None:
            answer.active.CopyFrom(version_message(self._roster.version(name, bot.active), who))
        return answer

    async def UpdateBot(self, request: api.UpdateBotRequest, context: _Context) -> api.UpdateBotResponse:
        """A bot, disabled or enabled, or mixed."""
        return api.UpdateBotResponse(bot=bot_message(await apart(self._update, caller(), request)))

    def _update(self, who: Caller, request: api.UpdateBotRequest) -> RosterBot:
        bot = self._own(who, request.bot)
        return self._roster.update_bot(
            bot.name,
            disabled=request.disabled if request.HasField("disabled") else None,
            mixed=request.mixed if request.HasField("mixed") else None,
            organiser=_is_organiser(who, bot.owner_id),
        )

    # versions

    async def ListVersions(
        self, request: api.ListVersionsRequest, context: _Context
    ) -> api.ListVersionsResponse:
        """The versions of a bot, in pages."""

        def read(before: int, most: int) -> list[RosterVersion]:
            return self._roster.versions(request.bot, before=before or None, most=most)

        versions, page = await apart(page_of, request.page, read, lambda version: version.number)
        return api.ListVersionsResponse(
            versions=[version_message(version, CALLER.get()) for version in versions], page=page
        )

    async def GetVersion(self, request: api.GetVersionRequest, context: _Context) -> api.GetVersionResponse:
        """One version."""
        return await apart(self._get, CALLER.get(), request.reference)

    def _get(self, who: Caller | None, reference: str) -> api.GetVersionResponse:
        version = self._found(reference)
        answer = api.GetVersionResponse(version=version_message(version, who))
        if _may_know(who, version):
            answer.build_log, answer.check_log = self._roster.logs(version.id)
        return answer

    async def ActivateVersion(
        self, request: api.ActivateVersionRequest, context: _Context
    ) -> api.ActivateVersionResponse:
        """A version that plays from now on."""
        version = await apart(self._activate, caller(), request.reference)
        return api.ActivateVersionResponse(version=version_message(version, CALLER.get()))

    def _activate(self, who: Caller, reference: str) -> RosterVersion:
        name, number = split_reference(reference)
        self._own(who, name)
        version = self._roster.version(name, number) if number else self._one_before(name)
        return self._roster.activate(version.id)

    def _one_before(self, name: str) -> RosterVersion:
        """The newest version that could have played before the one that does."""
        active = self._roster.bot(name).active
        for version in self._roster.versions(name, before=active):
            if version.state == SUPERSEDED:
                return version
        raise StateError(
            f"{name} has no version to go back to",
            "none that is older is checked and may play",
            f"see its versions, and name one: arena bot versions {name}",
        )

    async def DisableVersion(
        self, request: api.DisableVersionRequest, context: _Context
    ) -> api.DisableVersionResponse:
        """A version that plays no more."""
        version = await apart(self._disable, caller(), request)
        self._checker.wake()
        return api.DisableVersionResponse(version=version_message(version, CALLER.get()))

    def _disable(self, who: Caller, request: api.DisableVersionRequest) -> RosterVersion:
        version = self._mine(who, request.reference)
        _check_text("reason", request.reason, _REASON)
        return self._roster.disable_version(
            version.id, request.reason, organiser=_is_organiser(who, version.owner_id)
        )

    async def EnableVersion(
        self, request: api.EnableVersionRequest, context: _Context
    ) -> api.EnableVersionResponse:
        """A version that may be activated again."""
        version = await apart(self._enable, caller(), request.reference)
        return api.EnableVersionResponse(version=version_message(version, CALLER.get()))

    def _enable(self, who: Caller, reference: str) -> RosterVersion:
        return self._roster.enable_version(self._mine(who, reference).id, organiser=who.is_admin)

    async def WatchVersion(
        self, request: api.WatchVersionRequest, context: _Context
    ) -> AsyncIterator[api.WatchVersionResponse]:
        """A version on its way."""
        version = await apart(self._watched, caller(), request.reference)
        async with aclosing(self._checker.watch(version.id)) as watching:
            async for news in watching:
                if isinstance(news, str):
                    yield api.WatchVersionResponse(line=news)
                else:
                    yield api.WatchVersionResponse(version=version_message(news, caller()))

    def _watched(self, who: Caller, reference: str) -> RosterVersion:
        name, number = split_reference(reference)
        self._own(who, name)
        if number is None:
            return self._newest(name)
        return self._roster.version(name, number)

    # whose it is

    def _own(self, who: Caller, name: str) -> RosterBot:
        """A bot of somebody's own; of an organiser any.

        Raises:
            NotFoundError: there is none.
            NotAllowedError: it is somebody else's.
        """
        bot = self._roster.bot(name)
        if who.user != bot.owner_id and not who.is_admin:
            raise NotAllowedError(
                f"{bot.name} is not yours",
                "its owner, or an admin, alone may do this",
                "see yours: arena bot list --owner NAME",
            )
        return bot

    def _mine(self, who: Caller, reference: str) -> RosterVersion:
        self._own(who, split_reference(reference)[0])
        return self._found(reference)

    def _found(self, reference: str) -> RosterVersion:
        """A version; without a number the one that plays, or the newest."""
        name, number = split_reference(reference)
        if number is None and self._roster.bot(name).active is None:
            return self._newest(name)
        return self._roster.version(name, number)

    def _newest(self, name: str) -> RosterVersion:
        for version in self._roster.versions(name, most=1):
            return version
        raise NotFoundError(
            f"{name} has no version", "none was submitted yet", "submit one: arena bot submit DIR"
        )


def bot_message(bot: RosterBot) -> api.ServerBot:
    """A bot as a message."""
    return api.ServerBot(
        name=bot.name,
        owner=bot.owner,
        state=bot.state,
        active=bot.active,
        mixed=bot.mixed,
        barred=bot.barred,
        created_us=bot.created_us,
        disabled_us=bot.disabled_us,
    )


def version_message(version: RosterVersion, who: Caller | None) -> api.ServerBotVersion:
    """A version as a message.

    Args:
        version: the version.
        who: who is told; why it failed is nobody's but its owner's.
    """
    return api.ServerBotVersion(
        bot=version.bot,
        number=version.number,
        reference=version.reference,
        owner=version.owner,
        kind=_KINDS[version.kind],
        state=_STATES[version.state],
        reason=version.reason if _may_know(who, version) else "",
        digest=version.digest or "",
        size=version.size,
        version=version.spec.get("version", ""),
        games=version.games,
        language=version.spec.get("language", ""),
        description=version.spec.get("description", ""),
        notes=version.notes,
        created_us=version.created_us,
        changed_us=version.changed_us,
    )


def _is_organiser(who: Caller, owner: int) -> bool:
    """Whether somebody acts as an organiser, and not on what is his own."""
    return who.is_admin and who.user != owner


def _may_know(who: Caller | None, version: RosterVersion) -> bool:
    """Whether somebody may know what is its owner's alone of a version."""
    return who is not None and (who.is_admin or who.user == version.owner_id)


async def _first(requests: AsyncIterator[P]) -> P:
    """The first request of a submission, which must be its head.

    Raises:
        UsageError: it is something else.
    """
    request = await _next(requests)
    if request is None or request.WhichOneof("piece") != "head":
        raise UsageError("nothing is submitted", "a head must come first, then chunks", "send a head")
    return request


async def _chunks(requests: AsyncIterator[_Piece]) -> AsyncIterator[bytes]:
    while (request := await _next(requests)) is not None:
        if request.WhichOneof("piece") != "chunk" or len(request.chunk) > _CHUNK:
            raise UsageError(
                "the submission is refused", f"chunks of at most {_CHUNK} bytes follow its head", "send those"
            )
        yield request.chunk


async def _next(requests: AsyncIterator[T]) -> T | None:
    """The next request; None at the end.

    Raises:
        TooMuchError: it does not come.
    """
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await anext(requests, None)
    except TimeoutError:
        raise TooMuchError(
            "the submission is refused", f"nothing came for {_PATIENCE_S:g} s", "send it without a break"
        ) from None


def _check_size(head: api.SubmissionHead, most: int) -> None:
    if head.HasField("size") and head.size > most:
        error = too_large(most)
        raise UploadError("the submission is refused", error.why, error.do)


def _notes(text: str) -> str:
    _check_text("notes", text, _NOTES)
    return text


def _check_text(what: str, text: str, most: int) -> None:
    """Whether a text of a stranger is short, and nothing but text."""
    if len(text) > most or not text.isprintable():
        raise UsageError(
            f"{what} cannot be kept",
            f"it is longer than {most} characters, or has some that cannot be shown",
            "shorten it to one line",
        )
