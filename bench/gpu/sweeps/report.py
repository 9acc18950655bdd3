"""What a sweep's results say of its families."""

import math
import statistics

from gpu.families import LARGE
from gpu.families.case import Case

OURS = "megakittens"
SMALL_US = 5.0  # where the best takes less, ratios say little
PEAK_TFLOP_S = 990.0  # of sixteen-bit products, dense
WORST = 10


def compared(result):
    """Whether ours was timed beside any other."""
    return bool(result.get("times", {}).keys() - {OURS})


def best(times):
    """(name, microseconds) of the fastest that is not ours."""
    return min(((name, each["us"]) for name, each in times.items() if name != OURS), key=lambda pair: pair[1])


def figures(result, ceilings):
    """Of a measured case: times, ratio, shares of the ceilings, and which of these bounds it."""
    times = result["times"]
    competitor, least = best(times)
    ours = times[OURS]["us"]
    copy = ceilings["copy_gb_s"]
    by_bytes, by_flop = result["bytes"] / copy / 1e3, result["flop"] / PEAK_TFLOP_S / 1e6  # microseconds
    return {
        "ours_us": ours,
        "best_us": least,
        "best": competitor,
        "ratio": ours / least,
        "excess_us": ours - least,
        "share_of_copy": by_bytes / ours,
        "share_of_peak": by_flop / ours,
        "bound": "bytes" if by_bytes >= by_flop else "flop",
        "least_us_by_ceilings": max(by_bytes, by_flop),
    }


def quantile(values, share):
    """By the nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def of_family(results, ceilings):
    """Counts, and statistics of what was measured."""
    counted = {status: sum(result["status"] == status for result in results) for status in ("refused", "wrong", "failed")}
    measured = [figures(result, ceilings) for result in results if compared(result)]
    ratios = [each["ratio"] for each in measured if each["best_us"] > SMALL_US]
    excesses = [each["excess_us"] for each in measured if each["best_us"] <= SMALL_US]
    shares = [each["share_of_copy"] for each in measured]
    return {
        "count": len(results),
        **counted,
        "timed": len(ratios),
        "median": statistics.median(ratios) if ratios else None,
        "p90": quantile(ratios, 0.9) if ratios else None,
        "worst": max(ratios, default=None),
        "small": len(excesses),
        "largest_excess_us": max(excesses, default=None),
        "median_share_of_copy": statistics.median(shares) if shares else None,
        "least_share_of_copy": min(shares, default=None),
    }


def summary(results, ceilings):
    """{"families": .., "all": .., "worst": names of the slowest beside the best, the slowest first}."""
    names = list(dict.fromkeys(result["case"]["name"].partition("/")[0] for result in results))
    grouped = {name: [result for result in results if result["case"]["name"].partition("/")[0] == name] for name in names}
    known = [result for result in results if compared(result)]
    slow = [(figures(result, ceilings), result) for result in known]
    slow = sorted(((f["ratio"], r["case"]["name"]) for f, r in slow if f["best_us"] > SMALL_US), reverse=True)
    return {
        "families": {name: of_family(group, ceilings) for name, group in grouped.items()},
        "all": of_family(results, ceilings),
        "worst": [name for _, name in slow[:WORST]],
    }


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def line(result, ceilings):
    """One case in a line."""
    name, status = result["case"]["name"], result["status"]
    if not compared(result):
        loud = status.upper() if status in ("wrong", "failed") else status
        return f"{name:26} {loud}: {first_line(result.get('message', ''))}"
    own = figures(result, ceilings)
    other = " ".join(f"{kind} {each['us']:.1f}" for kind, each in result["times"].items() if kind != OURS)
    text = f"{name:26} {own['ratio']:6.2f}  ours {own['ours_us']:.1f} {other} us"
    text += f"  copy {own['share_of_copy']:.0%} peak {own['share_of_peak']:.0%}"
    clock = result["times"][OURS]
    if clock.get("sm_mhz") is not None:
        text += f"  {clock['sm_mhz']:.0f} MHz {clock['watts']:.0f} W"
    return text if status == "measured" else f"{text}  {status.upper()}: {first_line(result['message'])}"


def first_line(text):
    return text.strip().partition("\n")[0][:200]


def described(result):
    """The function and its operands, indented."""
    case = Case.from_dict(result["case"])
    body = case.source.partition("\n")[2].rstrip()
    return f"{body}\n    # {'; '.join(map(str, case.operands))}"


def text(results, ceilings, left):
    """The whole report. What is wrong comes first."""
    lines = []
    for result in results:
        if result["status"] in ("wrong", "failed"):
            lines += [f"{result['status'].upper()} {result['case']['name']}: {first_line(result['message'])}", described(result)]
    found = summary(results, ceilings)
    lines.append(f"\ncopy {ceilings['copy_gb_s']:.0f} GB/s, read by a sum {ceilings['read_by_sum_gb_s']:.0f} GB/s")
    head = ["count", "refused", "wrong", "failed", f">{SMALL_US:.0f} us", "median", "90 %", "worst", "<5 us", "excess us"]
    lines.append(f"{'family':22}" + "".join(f"{name:>10}" for name in head) + "   share of the device's copy")
    for name, own in [*found["families"].items(), ("all", found["all"])]:
        cells = [own[key] for key in ("count", "refused", "wrong", "failed", "timed")]
        cells += [number(own[key]) for key in ("median", "p90", "worst")] + [own["small"], number(own["largest_excess_us"], 1)]
        shown = ""
        if name in LARGE and own["least_share_of_copy"] is not None:
            shown = f"   median {own['median_share_of_copy']:.0%}, least {own['least_share_of_copy']:.0%}"
        lines.append(f"{name:22}" + "".join(f"{cell!s:>10}" for cell in cells) + shown)
    lines.append(f"\nthe {len(found['worst'])} slowest beside the best, where that takes over {SMALL_US:.0f} us:")
    by_name = {result["case"]["name"]: result for result in results}
    for name in found["worst"]:
        result = by_name[name]
        own = figures(result, ceilings)
        lines.append(line(result, ceilings))
        work = f"{result['bytes']:.3g} bytes, {result['flop']:.3g} flop"
        lines.append(f"    {work}: {own['bound']} bound it, {own['least_us_by_ceilings']:.1f} us at the ceiling")
        lines.append(described(result))
    refused = {}
    for result in results:
        if result["status"] == "refused":
            refused.setdefault(first_line(result["message"]), []).append(result["case"]["name"])
    lines += [f"refused {len(names)} ({', '.join(names[:3])}): {message}" for message, names in refused.items()]
    lines.append(f"{len(results)} cases ran, {left} did not")
    return "\n".join(lines)
