"""A picture of a run: who sent what to whom, how much and when, and what each member learnt."""

from kohorte.parties.picture.page import run_page, write_run_page

__all__ = ["run_page", "write_run_page"]
