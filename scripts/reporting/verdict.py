"""The verdict on a fit, its warnings, and numbers rounded as their standard deviations allow."""

import math

from reporting import page

WORDS = {"converged": "Converged", "not_converged": "Not converged", "bad_fit": "Bad fit"}
KINDS = {"converged": "good", "not_converged": "open", "bad_fit": "bad"}


def _sentence(text):
    return f"{text[:1].upper()}{text[1:]}."


def headline(fit):
    """The first line of the page, in colour: what the fit comes to."""
    result, verdict = fit.result, fit.result.get("verdict")
    if not verdict:
        status = result.get("status", "no result yet")
        return page.banner(f"{_sentence(status)} {_sentence(result['reason']) if result.get('reason') else ''}".strip(),
                           "bad" if status == "failed" else "open")
    warnings = result.get("warnings", [])
    kind = KINDS[verdict["is"]]
    text = WORDS[verdict["is"]]
    judged = verdict.get("judged")
    if judged:
        text += f": chi squared {page.number(judged['chi_squared'], 4)} of {judged['data']} data and {page.number(judged['values'], 4)} fitted values, p {verdict['p_value']:.2g}"
        if judged["left_to_losses"]:
            text += f"; {judged['left_to_losses']} outlying data left to the loss"
    text = " ".join([text + ".", *map(_sentence, verdict["reasons"])])
    if warnings:
        text += f" {len(warnings)} warning{'' if len(warnings) == 1 else 's'} below."
    # What has converged and yet has warnings is no fit to rely on unread.
    return page.banner(text, "open" if kind == "good" and warnings else kind)


def warnings(fit):
    found = fit.result.get("warnings", [])
    if not found:
        return []
    rows = [[entry["code"].replace("_", " "), entry["message"], entry.get("place", "")] for entry in found]
    return [page.heading("Warnings"), page.table(["what", "", "where"], rows, texts=(1, 2))]


def place_of(sd):
    """The power of ten of the last digit that a standard deviation states: two digits of those that begin with 10 to 35, else one."""
    if sd is None or not math.isfinite(sd) or sd <= 0:
        return None
    place = math.floor(math.log10(sd))
    return place - 1 if sd / 10 ** place < 3.55 else place


def rounded(value, place, digits=6):
    """A number to the place of its standard deviation, but to one digit at least; to some digits without one."""
    if value is None:
        return ""
    if place is None or not math.isfinite(value):
        return page.number(value, digits)
    if value and abs(value) < 10 ** place:
        place = math.floor(math.log10(abs(value)))
    shown = round(value / 10 ** place) * 10 ** place
    size = max(abs(shown), 10 ** place)
    if 1e-4 <= size < 1e7:
        return f"{shown:.{max(0, -place)}f}"
    power = math.floor(math.log10(size))
    return f"{shown:.{max(0, power - place)}e}"
