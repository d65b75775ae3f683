"""What can be seen without eyes: words too pale, cut off or covered, buttons too small or without a name."""

from __future__ import annotations

from typing import Any, Literal, cast

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SERIOUS = ("serious", "critical")
TARGET_PIXELS = 24
TOUCHED_PIXELS = 44
WIDTHS = ((390, 844), (820, 1180), (1024, 768), (1440, 900), (1920, 1080))

_PALE = """() => {
    const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
    const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const light = c => c.slice(0, 3).reduce((sum, v, i) => sum + linear(v / 255) * [.2126, .7152, .0722][i], 0);
    const behind = e => {
        for (; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length && (c[3] ?? 1) > .95) return c;
        }
        return [255, 255, 255];
    };
    const found = [];
    const all = 'p, span, h1, h2, button, code, summary, td, li, b, a, dt, dd, label, input, textarea, .cm-line';
    for (const e of document.querySelectorAll(all)) {
        if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
        if (e.closest('[inert], .p-unseen, .sr-only')) continue;
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
        const ratio = (a + .05) / (b + .05);
        if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${e.className} ${e.textContent.trim().slice(0, 30)}`);
    }
    return found;
}"""

# What a person can press or fill, where its middle is in view.
_PRESSABLE = """
    const pressable = [...document.querySelectorAll('button, a[href], summary, textarea, input, select, [role=tab]')]
        .filter(e => e.checkVisibility({visibilityProperty: true}) && !e.closest('[inert], .visually-hidden'))
        .filter(e => e.getBoundingClientRect().width > 1);
    const named = e => `${e.tagName} ${e.id || e.className} ${(e.ariaLabel || e.innerText || '').slice(0, 30)}`
        .replace(/\\bpal\\w{12}\\S*/g, '');
    const isInView = e => {
        const box = e.getBoundingClientRect();
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return false;
        // A notice lies over the page for some seconds.
        if (!e.closest('.toast-wrap') && document.elementFromPoint(x, y)?.closest('.toast-wrap')) return false;
        for (let p = e.parentElement; p; p = p.parentElement) {
            if (getComputedStyle(p).overflowY === 'visible') continue;
            const clip = p.getBoundingClientRect();
            if (x < clip.left || x > clip.right || y < clip.top || y > clip.bottom) return false;
        }
        return true;
    };
"""
_COVERED = f"""() => {{ {_PRESSABLE}
    return pressable.filter(isInView).filter(e => {{
        const box = e.getBoundingClientRect();
        const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        // What scrolls goes under these, and comes out again.
        if (top?.closest('#meter, .m-to-end, .p-commands') && e.closest('.m-scroller')) return false;
        if (top?.closest('.tab-wrapper') && e.closest('.tabitem')) return false;
        return top && top !== e && !e.contains(top) && !top.contains(e) && !e.labels?.length;
    }}).map(named);
}}"""
_BESIDE_THE_SCREEN = f"""() => {{ {_PRESSABLE}
    return pressable.filter(e => {{
        const box = e.getBoundingClientRect();
        return box.left < -1 || box.right > innerWidth + 1;
    }}).map(named);
}}"""
_CUT_OFF = """() => [...document.querySelectorAll('p, h1, h2, button, summary, li, dt, dd, label, td')]
    .filter(e => e.checkVisibility({visibilityProperty: true}) && !e.closest('[inert], pre, .cm-editor, .p-unseen'))
    .filter(e => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 2)
    .filter(e => ['hidden', 'clip'].includes(getComputedStyle(e).overflowX))
    .filter(e => getComputedStyle(e).textOverflow !== 'ellipsis' && getComputedStyle(e).fontSize !== '0px')
    .map(e => `${e.tagName} ${e.className} ${e.innerText.slice(0, 40)}`)"""
_SMALL = f"""(least) => {{ {_PRESSABLE}
    const isInWords = e => e.matches('a, .p-link, summary.p-link');
    const target = e => (e.labels?.[0] ?? e).getBoundingClientRect();
    const isAt = (e, x, y) => e.contains(document.elementFromPoint(x, y));
    // A small sign may be pressed beside itself.
    const far = (e, box, right, down) => {{
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        let steps = 0;
        while (steps < least && isAt(e, x + (steps + 1) * right, y + (steps + 1) * down)) steps++;
        return steps;
    }};
    const isReached = ([e, box]) =>
        (box.height >= least || far(e, box, 0, -1) + far(e, box, 0, 1) + 2 >= least) &&
        (box.width >= least || far(e, box, -1, 0) + far(e, box, 1, 0) + 2 >= least);
    return pressable.filter(isInView).filter(e => !isInWords(e)).map(e => [e, target(e)])
        .filter(one => !isReached(one))
        .map(([e, box]) => `${{Math.round(box.width)}}x${{Math.round(box.height)}} ${{named(e)}}`);
}}"""
_NAMELESS = f"""() => {{ {_PRESSABLE}
    return pressable.filter(e => e.matches('button'))
        // Words that are scrolled far away are not drawn, and have no `innerText` then.
        .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.title)).map(named);
}}"""


# Nothing but the parts of the page scrolls.
_MOVED = "() => document.querySelector('#bar')?.getBoundingClientRect().top < 0 ? ['#bar'] : []"
# What the last click or change of size moves has come to its place; what turns for long is not waited for.
_AT_REST = """async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const ends = document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < 2000);
    // One that is held, or in a part that is not drawn, never ends.
    const longEnough = new Promise(resolve => setTimeout(resolve, 1000));
    await Promise.race([Promise.allSettled(ends.map(one => one.finished)), longEnough]);
}"""
_REST_TRIES = 20
_MILLISECONDS_BETWEEN_TRIES = 150


def settle(page: Page) -> None:
    """Wait until the page is drawn as it is now, and whatever comes and goes has done so."""
    page.evaluate(_AT_REST)


def faults_at_rest(page: Page, target_pixels: int = TARGET_PIXELS) -> dict[str, list[str]]:
    """What `faults` finds once the page has come to rest, however slow the machine; what stays for 3 s is a fault."""
    found: dict[str, list[str]] = {}
    for _ in range(_REST_TRIES):
        settle(page)
        found = faults(page, target_pixels)
        if not found:
            break
        page.wait_for_timeout(_MILLISECONDS_BETWEEN_TRIES)
    return found


def faults(page: Page, target_pixels: int = TARGET_PIXELS) -> dict[str, list[str]]:
    """What is wrong with the look of the page as it is now, by the kind of fault; empty where nothing is.

    What can be pressed is to be so many pixels wide and high.
    """
    found: dict[str, list[str]] = {
        "pale": page.evaluate(_PALE),
        "covered": page.evaluate(_COVERED),
        "beside the screen": page.evaluate(_BESIDE_THE_SCREEN),
        "cut off": page.evaluate(_CUT_OFF),
        "small": page.evaluate(_SMALL, target_pixels),
        "nameless": page.evaluate(_NAMELESS),
        "out of view": page.evaluate(_MOVED),
    }
    return {kind: places for kind, places in found.items() if places}


def axe_findings(page: Page) -> list[str]:
    """What axe finds that is serious or critical, each with its rule and its first places."""
    answer = Axe().run(page, options={"resultTypes": ["violations"]}).response
    found = cast(list[dict[str, Any]], answer["violations"])
    return [
        f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:4]]}" for one in found if one["impact"] in SERIOUS
    ]
