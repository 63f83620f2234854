"""Pages from templates: one file that needs no network, for light and dark screens, phones and paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from inspect import isfunction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from kohorte import in_words
from kohorte.languages import ENGLISH, Kept, Language
from kohorte.pages.charts.svg import chart_rules
from kohorte.pages.contents import PLACE, address, sections
from kohorte.pages.style import beside, clean, css, harmless, safe

if TYPE_CHECKING:
    from jinja2 import Environment


def page(
    room: str,
    template: str,
    title: str,
    *,
    rules: str = "",
    script: str = "",
    language: Language = ENGLISH,
    **values: Any,
) -> str:
    """Render a template of a room, which extends `page.html.j2`, as a whole page.

    `room` is the package whose folder `templates` contains the template. `rules` are additional CSS rules; the page
    allows a script only if `script` is given. Every section gets an address, and the page a table of contents.
    """
    whole = render(
        room,
        template,
        language=language,
        title=title,
        style=css(chart_rules() + beside(__file__, "page.css") + rules),
        script=Markup(script),  # noqa: S704 - a file of the package
        **values,
    )
    return whole.replace(PLACE, render(room, "contents.html.j2", language=language, sections=sections(whole)), 1)


def render(
    room: str, template: str, *, language: Language = ENGLISH, with_forms: bool = False, **values: object
) -> str:
    """Render a template of a room or of the kit in a language; every text in it is escaped.

    `with_forms`: texts are not changed for better reading, because forms send them back.
    """
    return _environment(room, language, with_forms).get_template(template).render(values)


@cache
def _environment(room: str, language: Language, with_forms: bool) -> Environment:
    # Imported here, because most commands write no page, and the help should be fast.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, "templates") for name in (room, "kohorte.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=partial(_printable, harmless if with_forms else clean),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.i18n"],
    )
    _translate(environment, language)
    environment.globals["in_words"] = _words(language)
    environment.globals["contents"] = Markup(PLACE)  # noqa: S704 - replaced by the list
    environment.filters["address"] = address
    told = partial(_told, environment, language)
    environment.filters["told"], environment.filters["named"] = told, partial(_named, told)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def _translate(environment: Environment, language: Language) -> None:
    """Let templates write `{% trans %}` and `_("...")`; what is filled into a text is escaped as everywhere."""

    def gettext(text: str, /, **values: object) -> Markup:
        return _filled(language.gettext(text), values)

    def ngettext(one: str, many: str, number: int, /, **values: object) -> Markup:
        return _filled(language.ngettext(one, many, number), {"num": language.number(number), **values})

    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    environment.globals.update(_=gettext, gettext=gettext, ngettext=ngettext, language=language)


def _told(environment: Environment, language: Language, said: object) -> object:
    """Write what the program has said (a text, or several) in the language of the page; everything else is kept.

    A text that stays English is marked, so that it is read aloud as English.
    """
    if isinstance(said, str):
        if hasattr(said, "__html__") or isinstance(said, Kept):
            return said
        if language.knows(said):
            return language.tell(said)
        return Markup(environment.get_template("english.html.j2").render(said=said))  # noqa: S704 - escaped there
    return [_told(environment, language, one) for one in said] if isinstance(said, list | tuple) else said


def _named(told: Callable[[object], object], rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """Tell the cells of a table, but keep its first column, which has names or values."""
    return [[row[0], *map(told, row[1:])] for row in rows]


def _words(language: Language) -> SimpleNamespace:
    """The functions that write numbers, for templates: what they write is told in the language of the page."""

    def told(write: Callable[..., str], *given: object, **options: object) -> str:
        return language.tell(write(*given, **options))

    functions = {name: partial(told, one) for name, one in vars(in_words).items() if isfunction(one)}
    return SimpleNamespace(**functions)


def _filled(text: str, values: Mapping[str, object]) -> Markup:
    return Markup(text) % {name: safe(value) for name, value in values.items()}  # noqa: S704 - text of a catalogue


def _printable(cleaned: Callable[[object], str], value: object) -> object:
    """Filter the output of template expressions: markup is unchanged, other text loses dangerous characters."""
    return value if hasattr(value, "__html__") else cleaned(value)
