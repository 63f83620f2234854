"""Screens in a real browser: signing in, languages, keyboard, accessibility, and the back button."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.browser import PHONE, look, opened, served, sign_in
from support.projects import patients, store_dataset
from support.service import PASSWORD, new_user_with, on_sqlite

pytestmark = on_sqlite


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "locale": "de-DE"}])
def test_every_shared_screen_is_accessible_in_light_and_dark(
    service: Service, chromium: Browser, options: dict[str, str]
) -> None:
    row = new_user_with(service, Role.STEWARD)
    other = new_user_with(service, Role.RESEARCHER)
    store_dataset(service, patients(), row.id)
    with served(service) as address, opened(chromium, address, **options) as page:
        page.goto("/app/sign-in")
        look(page)
        sign_in(page, row.email_address)
        for path in (
            "/app",
            "/app/accounts",
            "/app/accounts/new",
            f"/app/accounts/{other.id}",
            "/app/me",
            "/app/x",
            "/app/datasets",
            "/app/datasets/new",
            "/app/datasets/1",
            "/app/projects",
            "/app/jobs",
        ):
            page.goto(path)
            look(page)


def test_a_person_signs_in_with_the_keyboard_alone(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address) as page:
        page.goto("/")
        page.keyboard.type(row.email_address)  # the first field has the focus
        page.keyboard.press("Tab")
        page.keyboard.type("correct horse battery staple")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Good to see you")


def test_after_signing_out_the_back_button_shows_nothing(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address) as page:
        sign_in(page, row.email_address)
        page.goto("/app/accounts")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("You have signed out.")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_the_language_is_chosen_on_the_page_and_stays(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address, locale="en-GB") as page:
        sign_in(page, row.email_address)
        page.get_by_role("button", name="Deutsch").click()
        expect(page.get_by_role("button", name="Abmelden")).to_be_visible()
        page.goto("/app/accounts")
        expect(page.get_by_role("heading", level=1)).to_have_text("Konten")


def test_a_lost_connection_is_told_and_nothing_typed_is_lost(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    context = chromium.new_context()  # not `opened`: the browser complains about the connection, as it should
    with served(service) as address, context:
        page = context.new_page()
        page.goto(f"{address}/app/sign-in")
        page.fill("#email_address", row.email_address)
        page.fill("#password", PASSWORD)
        page.click("main button[type=submit]")
        page.wait_for_url("**/app")
        page.goto(f"{address}/app/survey")
        lost = page.get_by_text("The service does not answer")
        expect(lost).to_be_hidden()
        context.set_offline(True)
        page.fill("#people", "321")
        expect(lost).to_be_visible()
        expect(page.locator("#people")).to_have_value("321")
        context.set_offline(False)
        page.fill("#people", "322")
        expect(lost).to_be_hidden()


def test_on_a_phone_the_places_are_a_menu_that_the_keyboard_opens_without_script(
    service: Service, chromium: Browser
) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address, viewport=PHONE, java_script_enabled=False) as page:
        sign_in(page, row.email_address)
        header, link = page.locator("header.top"), page.get_by_role("link", name="Accounts")
        expect(link).to_be_hidden()
        assert header.bounding_box()["height"] < 130  # type: ignore[index]
        page.locator(".menu summary").focus()
        page.keyboard.press("Enter")
        expect(link).to_be_visible()
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Accounts")
        page.set_viewport_size({"width": 1180, "height": 800})
        expect(page.locator(".menu")).to_be_hidden()
        expect(link).to_be_visible()
