"""Kamozza as text for people: options as they write them, the table as they read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from botarena.v1.kamozza_pb2 import (
    KamozzaClaim,
    KamozzaPastRound,
    KamozzaPlayer,
    KamozzaPort,
    KamozzaResolved,
    KamozzaShip,
    KamozzaShipKind,
    KamozzaStage,
    KamozzaView,
)

from arena.games.game import OptionError
from arena.games.kamozza.rules import FATES, PORTS, Options

OPTION_HELP = {
    "mode": "base (default): one or two cards a round; or variant: one card in each of five rounds",
    "typhoon": "false (default) or true: a typhoon in each deck of ships; with mode variant only",
    "cat_ship": "false (default) or true: a ship that turns rats away; with mode variant only",
    "table_talk": "false (default) or true: a choice of cargo may go with a claim",
}

_FLAGS = {"true": True, "false": False}


def options_from_text(values: Mapping[str, str]) -> Options:
    """Options as a person gives them.

    Raises:
        OptionError: what was given and what is allowed.
    """
    if unknown := sorted(values.keys() - OPTION_HELP.keys()):
        raise OptionError(f"Kamozza has no option {', '.join(unknown)}; it has {', '.join(OPTION_HELP)}")
    mode = values.get("mode", "base").strip()
    if mode not in ("base", "variant"):
        raise OptionError(f"{mode!r} is no mode; mode: {OPTION_HELP['mode']}")
    typhoon, cat_ship, table_talk = (_flag(name, values) for name in ("typhoon", "cat_ship", "table_talk"))
    return Options("base" if mode == "base" else "variant", typhoon, cat_ship, table_talk)


def _flag(name: str, values: Mapping[str, str]) -> bool:
    text = values.get(name, "false").strip()
    if text not in _FLAGS:
        raise OptionError(f"{text!r} is neither true nor false; {name}: {OPTION_HELP[name]}")
    return _FLAGS[text]


def table_text(view: KamozzaView) -> str:
    """The table in a few lines: this round, the players, the ships to come, the finished rounds."""
    lines = [_headline(view)]
    lines += [
        f"{_marker(view, seat)} seat {seat}: {_player(player)}" for seat, player in enumerate(view.players)
    ]
    to_come = [
        f"port {name}: {_ships(ships)}"
        for name, ships in zip(PORTS, (view.undrawn_a, view.undrawn_b), strict=True)
        if ships
    ]
    if to_come:
        lines.append(f"to come in any order, {'; '.join(to_come)}")
    lines += [_past(past) for past in view.past]
    return "\n".join(lines)


def private_text(view: KamozzaView) -> str:
    """What the view's own seat has committed in this round."""
    committed = [_values(player.committed_cards) for player in view.players if player.committed_cards]
    return f"committed {' '.join(committed)}" if committed else ""


def _headline(view: KamozzaView) -> str:
    parts = [f"round {view.round} of {view.rounds}"]
    parts += [f"port {name}: {_ship(ship)}" for name, ship in zip(PORTS, view.ships, strict=False)]
    parts.append(
        {
            KamozzaStage.KAMOZZA_STAGE_CARGO: f"cargo is chosen, seat {view.start_seat} begins",
            KamozzaStage.KAMOZZA_STAGE_PORT: "ports are chosen",
        }.get(view.stage, "over")
    )
    return "; ".join(parts)


def _marker(view: KamozzaView, seat: int) -> str:
    return ">" if seat in view.to_move else " "


def _player(player: KamozzaPlayer) -> str:
    parts = [f"{player.points} point{'' if player.points == 1 else 's'}"]
    for what, cards in (("hand", player.hand), ("loaded", player.loaded), ("lost", player.lost)):
        if cards:
            parts.append(f"{what} {_values(cards)}")
    if player.committed_cards:
        parts.append(f"committed {_values(player.committed_cards)}")
    elif player.committed:
        parts.append(f"committed {player.committed} card{'' if player.committed == 1 else 's'}")
    if player.HasField("claim"):
        parts.append(f'says "{_claim(player.claim)}"')
    if player.HasField("boarded"):
        parts.append(f"boarded last in round {player.boarded.round}")
    if player.eliminated:
        parts.append(f"eliminated in round {player.eliminated}")
    return "; ".join(parts)


def _values(cards: Iterable[int]) -> str:
    return " ".join(map(str, cards))


def _claim(claim: KamozzaClaim) -> str:
    parts = [_values(claim.cards)] if claim.cards else []
    if claim.HasField("port"):
        parts.append(f"to port {_port(claim.port)}")
    return " ".join(parts)


def _port(port: KamozzaPort.ValueType) -> str:
    return PORTS[port - 1]


def _ship(ship: KamozzaShip) -> str:
    if ship.kind == KamozzaShipKind.KAMOZZA_SHIP_KIND_TYPHOON:
        return "typhoon"
    return (
        f"cat ship {ship.capacity}"
        if ship.kind == KamozzaShipKind.KAMOZZA_SHIP_KIND_CAT
        else f"{ship.capacity}"
    )


def _ships(ships: Sequence[KamozzaShip]) -> str:
    return ", ".join(map(_ship, ships))


def _past(past: KamozzaPastRound) -> str:
    parts = [f'seat {said.seat} said "{_claim(said.claim)}"' for said in past.claims]
    parts += [_resolved(resolved) for resolved in past.resolved]
    return f"round {past.round}: {'; '.join(parts)}"


def _resolved(resolved: KamozzaResolved) -> str:
    cargo = ", ".join(
        f"seat {card.seat} {card.card} {FATES[card.fate - 1]}"
        + (f" for {card.points}" if card.points > card.card else "")
        for card in resolved.cargo
    )
    return f"port {_port(resolved.port)} ({_ship(resolved.ship)}): {cargo}"
