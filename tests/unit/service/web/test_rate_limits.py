from __future__ import annotations

import pytest

from kohorte.service.settings import Settings
from kohorte.service.web.middleware.rate_limits import MOST_BUCKETS, Buckets, RateLimits, TooManyRequests

from .conftest import Open


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def taken(buckets: Buckets, name: str) -> bool:
    try:
        buckets.take(name)
    except TooManyRequests:
        return False
    return True


def test_a_bucket_gives_what_it_holds_and_fills_up_evenly() -> None:
    clock = Clock()
    buckets = Buckets(60, clock)
    assert sum(taken(buckets, "a") for _ in range(100)) == 60
    clock.now += 2.0
    assert [taken(buckets, "a") for _ in range(3)] == [True, True, False]
    clock.now += 3600
    assert sum(taken(buckets, "a") for _ in range(100)) == 60


def test_who_is_refused_learns_when_to_come_back() -> None:
    clock = Clock()
    buckets = Buckets(6, clock)
    for _ in range(6):
        buckets.take("a")
    with pytest.raises(TooManyRequests) as refused:
        buckets.take("a")
    assert refused.value.retry_after == 10
    clock.now += refused.value.retry_after
    buckets.take("a")


def test_buckets_do_not_touch_each_other_and_are_bounded() -> None:
    buckets = Buckets(1, Clock())
    assert taken(buckets, "a")
    assert taken(buckets, "b")
    assert not taken(buckets, "a")
    for number in range(2 * MOST_BUCKETS):
        buckets.take(f"other {number}")
    assert len(buckets._buckets) == MOST_BUCKETS


def scope(peer: str, *forwarded: str) -> dict[str, object]:
    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    return {"type": "http", "client": (peer, 1), "headers": headers}


@pytest.mark.parametrize(
    ("behind", "given", "found"),
    [
        (False, scope("192.0.2.1", "198.51.100.1"), "192.0.2.1"),
        (True, scope("192.0.2.1", "198.51.100.1"), "198.51.100.1"),
        (True, scope("192.0.2.1", "203.0.113.7, 198.51.100.1"), "198.51.100.1"),
        (True, scope("192.0.2.1", "203.0.113.7", "198.51.100.2"), "198.51.100.2"),
        (True, scope("192.0.2.1", "nonsense"), "192.0.2.1"),
        (True, scope("192.0.2.1"), "192.0.2.1"),
        (False, scope("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64"),
        (False, scope("::ffff:192.0.2.1"), "192.0.2.1"),
    ],
)
def test_the_address_is_the_peer_or_what_the_own_proxy_says(
    behind: bool, given: dict[str, object], found: str, tmp_path: object
) -> None:
    settings = Settings.load(tmp_path, {}, behind_proxy=behind)  # type: ignore[arg-type]
    assert RateLimits(settings).address(given) == found


def test_signing_in_is_limited_by_address(open_client: Open) -> None:
    client = open_client(logins_per_minute=3)
    body = {"email_address": "a@example.org", "password": "wrong"}
    answers = [client.post("/api/v1/login", json=body) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert answers[-1].json()["code"] == "too-many-requests"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
    assert client.post("/api/v1/refresh", json={"refresh_token": "x"}).status_code == 401
    assert client.get("/api/v1/health").status_code == 200


def test_an_address_that_asks_too_often_is_refused_everywhere(open_client: Open) -> None:
    client = open_client(requests_per_minute=1)
    statuses = [client.get("/api/v1/nothing").status_code for _ in range(12)]
    assert statuses == [404] * 10 + [429] * 2
    assert "retry-after" in client.get("/docs").headers


def test_a_made_up_forwarded_address_changes_nothing(open_client: Open) -> None:
    client = open_client(logins_per_minute=1)
    body = {"email_address": "a@example.org", "password": "wrong"}
    statuses = [
        client.post("/api/v1/login", json=body, headers={"X-Forwarded-For": f"192.0.2.{number}"}).status_code
        for number in range(3)
    ]
    assert statuses == [401, 429, 429]
