"""Pieces of the HTML page: self-contained, for phones and print."""

from html import escape

STYLE = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --blue: #1d6fb8; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 72rem; color: var(--ink); background: white;
       font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p.lead { font-size: 1.05rem; }
.verdict { margin: 0 0 1rem; padding: .6rem .9rem; border-left: .5rem solid; border-radius: .2rem; font-weight: 600; }
.verdict.good { background: #e3f4e6; border-color: #1a7f37; color: #0f5223; } .verdict.open { background: #fff4d6; border-color: #bf8700; color: #6b4a00; }
.verdict.bad { background: #fde4e1; border-color: #c0392b; color: #8a1f14; }
@media print { .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
 .soft { color: var(--soft); } .warn { border-left: 4px solid #c0392b; padding-left: .7rem; }
.table { overflow-x: auto; margin-bottom: .8rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, th.text { text-align: left; } td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
tr.bound td { background: #fdf0ee; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem; align-items: start; }
.figures.wide { grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); }
.figures.full { grid-template-columns: 1fr; } .figures.full img { max-width: none; }
figure { margin: 0; break-inside: avoid; } img { width: 100%; height: auto; max-width: 56rem; }
figcaption { font-size: .85rem; color: var(--soft); }
@media (max-width: 40rem) { body { padding: .8rem; font-size: 15px; } th, td { padding: .25rem .45rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } h2, h3, h3 + p { break-after: avoid; } .table { overflow: visible; }
  .figures, .figures.wide { grid-template-columns: 1fr 1fr; } th, td { padding: .15rem .4rem; }
  tr { break-inside: avoid; } @page { margin: 15mm; } }
"""


def number(value, digits=6):
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def heading(text):
    return f"<h2>{escape(text)}</h2>"


def subheading(text):
    return f"<h3>{escape(text)}</h3>"


def paragraph(text, kind=""):
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def banner(text, kind):
    """`kind`: "good", "open" or "bad"."""
    return f'<p class="verdict {kind}">{escape(text)}</p>'


def bullets(texts):
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def table(header, rows, texts=(), marked=()):
    """`texts`: columns of running text; `marked`: rows to highlight."""
    head = "".join(f'<th class="text">{escape(name)}</th>' if j in texts else f"<th>{escape(name)}</th>" for j, name in enumerate(header))
    body = ""
    for i, row in enumerate(rows):
        cells = "".join(f'<td class="text">{escape(number(v))}</td>' if j in texts else f"<td>{escape(number(v))}</td>"
                        for j, v in enumerate(row))
        body += f'<tr class="bound">{cells}</tr>' if i in marked else f"<tr>{cells}</tr>"
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def folded(summary, content):
    """Content that is shown on a click."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def figure(uri, caption, alt=None):
    shown = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><img src="{uri}" alt="{escape(alt or caption)}">{shown}</figure>'


def figures(items, kind=""):
    """`kind`: "wide" for two columns, "full" for one."""
    return f'<div class="{" ".join(["figures", kind]).strip()}">{"".join(items)}</div>' if items else ""


def document(title, parts):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n<body>'
            + "\n".join(parts) + "</body></html>\n")
