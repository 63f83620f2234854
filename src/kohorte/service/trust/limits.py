"""How many names, PIDs and texts an account may send in a day.

A PID has 30 bits. Somebody who may ask for the pseudonym of any text could try all of them, and so turn pseudonyms
into PIDs without anybody's approval; a daily limit makes that take years. The count is a marked row, so that neither a
restart nor a change of the database forgets it.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta

from sqlalchemy import insert, select, update

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.integrity.marks import DAILY_USE
from kohorte.service.storage.schema import daily_use, now, users


class TooManyTexts(AccessDenied):
    """The account has used its texts of the day; `retry_after` is in seconds."""

    def __init__(self, limit: int, moment: datetime) -> None:
        super().__init__(
            f"an account may send {limit:,} names, PIDs and texts in a day (texts_per_day); continue tomorrow (UTC)",
            code="too-many-texts",
        )
        tomorrow = datetime.combine(moment.date() + timedelta(days=1), time(), tzinfo=moment.tzinfo)
        self.retry_after = (tomorrow - moment).total_seconds()


def count(service: Service, actor: Actor, texts: int) -> None:
    """Count texts before they are used; refuse what is beyond the limit of the settings. Failed calls count, too."""
    moment, limit = now(), service.settings.texts_per_day
    key = actor.user_id
    with service.database.writing() as connection:
        connection.execute(select(users.c.id).where(users.c.id == key).with_for_update()).one()  # one call at a time
        row = connection.execute(DAILY_USE.one, DAILY_USE.keyed((key,))).one_or_none()
        today, used = moment.date().isoformat(), 0
        if row is not None:
            service.guard.checked(connection, DAILY_USE, row)
            today, used = (row.day, row.texts) if row.day >= today else (today, 0)
        else:
            service.guard.refuse_known(connection, DAILY_USE, key)
        if used + texts > limit:
            raise TooManyTexts(limit, moment)
        values = {"day": today, "texts": used + texts}
        if row is None:
            connection.execute(insert(daily_use).values(user_id=key, **values))
        else:
            connection.execute(update(daily_use).where(daily_use.c.user_id == key).values(**values))
        service.guard.mark(connection, DAILY_USE, key)
