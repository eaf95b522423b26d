"""How a server is run: flags over the environment (ARENA_SERVE_...) over a TOML file over what is usual."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from arena.bots.sandbox import LEVELS
from arena.errors import NotFoundError, UsageError
from arena.server.tls import check_binding, is_loopback
from arena.units import parse_size, parse_time

PREFIX = "ARENA_SERVE_"
"""How names of settings in the environment begin."""
_NESTED = "__"

T = TypeVar("T")


def _with_unit(parse: Callable[[str], int]) -> BeforeValidator:
    def read(value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except UsageError as error:
            raise ValueError(f"{error.why}; {error.do}") from None

    return BeforeValidator(read)


def _level(value: str) -> str:
    if value not in LEVELS:
        raise ValueError(f"it must be one of {', '.join(LEVELS)}")
    return value


Duration = Annotated[int, _with_unit(parse_time), Field(gt=0)]
"""A length of time in microseconds, written as 500ms, 30s or 2m."""
Size = Annotated[int, _with_unit(parse_size), Field(gt=0)]
"""A size in bytes, written as 64MiB."""
Port = Annotated[int, Field(ge=0, le=65535)]
"""A TCP port; 0: any that is free."""
Level = Annotated[str, BeforeValidator(_level)]
"""A level of sandbox."""


class ServerSettings(BaseSettings):
    """How a server is run.

    Attributes:
        host: address that it listens on.
        port: TCP port that it listens on; 0: any that is free.
        db: its database, a file or an URL of SQLAlchemy.
        data: folder for unpacked submissions; None: beside the database.
        token_file: where the token of the first start is written; None: it is told.
        jobs: worker processes of all tournaments together; None: one per core.
        in_flight: matches that each of them has in play at once.
        sandbox: level at which submitted bots are held; None: what the file of limits says.
        limits: the organiser's limits.toml; None: the usual limits.
        tls_cert: chain of certificates in PEM; None: no TLS.
        tls_key: its key in PEM.
        tls_client_ca: who must have signed clients' certificates; None: clients need none.
        insecure: whether it may listen off the loopback without TLS.
        reflection: whether anybody may ask which services there are; None: on the loopback alone.
        metrics_host: address for metrics and probes.
        metrics_port: their TCP port; None: there are none.
        log: how lines of the log are written.
        log_level: the least of what is logged.
        drain: how long matches in play may go on after it was told to end, in microseconds.
        quotas: what a user may have, by name; what is left out is as usual.
        uploads: limits of submitted archives, by name; likewise.
        rates: calls per second with one token, from one peer, of failures and of openings; likewise.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter=_NESTED, extra="forbid", frozen=True, validate_default=False
    )

    host: str = Field("127.0.0.1", min_length=1)
    port: Port = 50051
    db: str = Field("arena.db", min_length=1)
    data: Path | None = None
    token_file: Path | None = None
    jobs: int | None = Field(None, ge=1, le=1024)
    in_flight: int = Field(256, ge=1, le=100_000)
    sandbox: Level | None = None
    limits: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    insecure: bool = False
    reflection: bool | None = None
    metrics_host: str = "127.0.0.1"
    metrics_port: Port | None = None
    log: Literal["json", "text"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    drain: Duration = 30_000_000
    quotas: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    rates: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    uploads: dict[str, Size] = Field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine reaches it."""
        return is_loopback(self.host)

    @property
    def reflects(self) -> bool:
        """Whether anybody may ask which services there are."""
        return self.is_local if self.reflection is None else self.reflection

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags and the environment; the file is put under them by `read_settings`."""
        return init_settings, env_settings


def read_settings(flags: Mapping[str, Any], config: Path | None) -> ServerSettings:
    """The settings of a server.

    Args:
        flags: what its command line says; None for what it does not say.
        config: a TOML file; None: there is none.

    Raises:
        UsageError: they mean nothing, or do not go together.
        NotFoundError: there is no such file.
    """
    _check_environment()
    said = {name: value for name, value in flags.items() if value is not None}
    file = {} if config is None else _read_file(config)
    named = {name.removeprefix(PREFIX).partition(_NESTED)[0].lower() for name in _environment()}
    under = {name: value for name, value in file.items() if name not in named}
    try:
        settings = ServerSettings(**{**under, **said})
    except ValidationError as error:
        raise _explained(error) from None
    _check(settings)
    return settings


def _environment() -> list[str]:
    return [name for name in os.environ if name.upper().startswith(PREFIX)]


def _check_environment() -> None:
    """Whether every variable of ours means something: the library reads only those that it knows."""
    for variable in _environment():
        name = variable[len(PREFIX) :].partition(_NESTED)[0].lower()
        if name not in ServerSettings.model_fields:
            raise UsageError(
                f"{variable} means nothing",
                f"a server has no setting {name!r}",
                f"unset it, or use {PREFIX} and one of {', '.join(ServerSettings.model_fields)}",
            )


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"there is no {path}", "no file has this name", "name another --config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read", str(error), "write it as TOML") from None


def _explained(error: ValidationError) -> UsageError:
    """The first thing that is wrong, as a person needs it."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "the settings"
    if first["type"] == "extra_forbidden":
        known = ", ".join(ServerSettings.model_fields)
        return UsageError(f"{name} means nothing", f"a server has no setting {name!r}", f"use one of {known}")
    return UsageError(
        f"the setting {name} cannot be {first['input']!r}",
        first["msg"].removeprefix("Value error, "),
        "mend it in the command line, the environment or the file of settings",
    )


def _check(settings: ServerSettings) -> None:
    """Whether they go together."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise UsageError(
            "TLS needs a certificate and its key",
            "only one of them is named",
            "name --tls-cert and --tls-key",
        )
    if settings.tls_client_ca is not None and settings.tls_cert is None:
        raise UsageError(
            "clients cannot show certificates",
            "the server has none of its own",
            "name --tls-cert and --tls-key",
        )
    check_binding(settings.host, settings.tls_cert is not None, settings.insecure)
