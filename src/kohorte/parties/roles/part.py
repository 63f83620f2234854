"""What an institution takes part with: its place in the study, its table, and the keys of the run."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from kohorte.parties.ciphers.secret import Keyring
from kohorte.parties.own_table import OwnTable, longest_values, own_table
from kohorte.parties.roles.secrets import Secrets, agree, agreed_lengths
from kohorte.parties.study import Study
from kohorte.parties.transport.channel import Channel
from kohorte.progress import ProgressCallback


@dataclass(frozen=True, eq=False)
class Part:
    """The part of one institution in a run; keys that it puts on the keyring are wiped when the run ends."""

    channel: Channel = field(repr=False)
    study: Study
    name: str
    frame: pl.DataFrame = field(repr=False)
    keyring: Keyring
    progress: ProgressCallback | None = None

    def agree(self) -> Secrets:
        """Agree with the other parties on the secrets of the run."""
        return agree(self.channel, self.study, self.name, self.keyring)

    def labelled(self, secrets: Secrets) -> OwnTable:
        """Check one's own table and give each value its labels, with lengths on which all parties agree."""
        told = secrets.exchange(self.channel, "lengths", longest_values(self.frame, self.study, self.name))
        return own_table(self.frame, self.study, self.name, lengths=agreed_lengths(told, {}))
