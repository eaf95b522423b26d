"""Which version of which bot it is that dials in: its owner's, remote, and one that may play."""

from __future__ import annotations

from botarena.v1.bot_pb2 import Hello

from arena.errors import NotAllowedError, NotFoundError, StateError, TooMuchError, UsageError
from arena.games import GAMES
from arena.rights import BOT_PLAY, BOT_SUBMIT, Caller
from arena.server.catalog import remote_spec, reserved_names
from arena.store.accounts import Accounts
from arena.store.roster import PLAYABLE, REMOTE, NewVersion, Roster, RosterBot, RosterVersion, check_name
from arena.text import printable

LONGEST_VERSION = 80
"""Characters of what an author calls a version."""


class Entries:
    """Finds the version that a hello means, or makes it. All of it asks the database, and takes its time.

    Args:
        accounts: knows whose a token is.
        roster: knows the bots.
    """

    def __init__(self, accounts: Accounts, roster: Roster) -> None:
        self._accounts = accounts
        self._roster = roster

    def caller(self, token: str) -> Caller:
        """Who shows a token that lets bots play.

        Raises:
            UnknownCallerError: nobody knows it.
            NotAllowedError: it does not allow that.
        """
        who = self._accounts.check(token)
        if not who.may(BOT_PLAY):
            raise NotAllowedError(
                "this token lets no bot play",
                f"it does not have the scope {BOT_PLAY}",
                f"make one that has: arena token create --scope {BOT_PLAY}",
            )
        return who

    def bot(self, who: Caller, hello: Hello) -> str:
        """Name of the bot that a hello means. It may be one that nobody has yet, and that the token may make.

        Raises:
            ArenaError: there is none that this caller may play with; what, why, and what to do.
        """
        _check_text(hello.bot_version)
        name = hello.bot or self._only(who)
        try:
            _check_own(who, self._roster.bot(name))
        except NotFoundError:
            _check_may_make(who, name)
            check_name(name, reserved_names())
        return name

    def version(self, who: Caller, name: str, hello: Hello) -> RosterVersion:
        """The version of a bot that a hello means: it plays from now on, and is made if there is none yet.

        Raises:
            ArenaError: it cannot play, or cannot be made.
        """
        version = self._known(name, hello.bot_version)
        if version is None:
            return self._make(who, name, hello)
        if version.state not in PLAYABLE:
            raise StateError(
                f"{version.reference} does not play",
                f"it is {version.state}",
                "enable it, or connect as another version: --bot-version TEXT",
            )
        return self._roster.activate(version.id)  # what is connected is what plays

    def check(self, token: str, number: int) -> None:
        """Whether a version may still play with a token.

        Args:
            token: what it showed.
            number: row number of the version.

        Raises:
            ArenaError: it may not.
        """
        who = self.caller(token)
        version = self._roster.version_by_id(number)
        _check_own(who, self._roster.bot(version.bot))
        if version.state not in PLAYABLE:
            raise StateError(
                f"{version.reference} does not play any more",
                f"it is {version.state}",
                "enable it",
            )

    def most(self, who: Caller) -> int:
        """How many bots of a user may be connected at once."""
        return self._accounts.user_by_id(who.user).quotas.remote_bots

    def _only(self, who: Caller) -> str:
        """Name of the only remote bot of a user."""
        own = [bot.name for bot in self._roster.bots(owner=who.name) if self._is_remote(bot)]
        if len(own) == 1:
            return own[0]
        raise UsageError(
            "the arena cannot tell which bot this is",
            f"{who.name} has {len(own)} remote bots, and the hello names none",
            "name it: --name NAME",
        )

    def _is_remote(self, bot: RosterBot) -> bool:
        return any(version.kind == REMOTE for version in self._roster.versions(bot.name))

    def _known(self, name: str, text: str) -> RosterVersion | None:
        """The version that its author calls so, or the newest; None: there is no such yet."""
        try:
            versions = self._roster.versions(name)
        except NotFoundError:
            return None
        if any(version.kind != REMOTE for version in versions):
            raise StateError(
                f"{name} is played by the arena itself",
                "its code was submitted, so it does not dial in",
                "give the remote bot another name: --name NAME",
            )
        same = [version for version in versions if not text or version.spec.get("version") == text]
        return max(same, key=lambda version: version.number, default=None)

    def _make(self, who: Caller, name: str, hello: Hello) -> RosterVersion:
        _check_may_make(who, name)
        quotas = self._accounts.user_by_id(who.user).quotas
        games = tuple(game for game in hello.games if game in GAMES)
        spec = remote_spec(name, hello.bot_version or "remote", games)
        new = NewVersion(REMOTE, spec=spec.to_json())
        return self._roster.submit(who.user, name, new, quotas=quotas, reserved=reserved_names())[0]


def _check_may_make(who: Caller, name: str) -> None:
    if not who.may(BOT_SUBMIT):
        raise NotFoundError(
            f"there is no bot {printable(name[:40])!r} of this version",
            f"and this token may not make it: it does not have the scope {BOT_SUBMIT}",
            "register it first, or use a token with that scope",
        )


def _check_text(text: str) -> None:
    if len(text) > LONGEST_VERSION or not text.isprintable():
        raise UsageError(
            "a version cannot be called that",
            f"it is longer than {LONGEST_VERSION} characters, or has some that cannot be shown",
            "give a shorter text: --bot-version TEXT",
        )


def _check_own(who: Caller, bot: RosterBot) -> None:
    if bot.owner_id != who.user:
        raise NotAllowedError(
            f"{bot.name} cannot be played with this token", "it belongs to somebody else", "use another name"
        )
    if bot.disabled_us is not None:
        raise NotAllowedError(f"{bot.name} does not play", "it is disabled", "enable it: arena bot enable")


def check_room(who: Caller, connected: int, most: int) -> None:
    """Whether one more bot of a user may be connected.

    Raises:
        TooMuchError: there are enough.
    """
    if connected >= most:
        raise TooMuchError(
            "this bot cannot be connected now",
            f"{who.name} has {connected} connected, and may have {most}",
            "stop one of them, or ask an organiser for more",
        )
