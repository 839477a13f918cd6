#!/usr/bin/env python3
"""Prints the figures of an evaluation beside the goals and the figures of a peer."""
import argparse
import json
import sys

# Shares of recordings, in percent. A goal for speech outside the grammar is an upper bound.
SPOKEN = {
    "clean": ("acceptance", 98), "pink20": ("acceptance", 96), "telephone": ("acceptance", 92), "pink10": ("acceptance", 70),
}
PEOPLE = {
    "clean": ("acceptance", 95), "snr24": ("acceptance", 96), "snr15": ("acceptance", 93), "snr6": ("acceptance", 80),
}


def rows(path):
    """The rows over all domains and voices, by condition."""
    if not path:
        return {}
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["event"] == "summary" and "domain" not in row and "voice" not in row:
                found[row["condition"]] = row
    return found


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", action="store_true", help="the goals for recordings of people")
    parser.add_argument("ours")
    parser.add_argument("peer", nargs="?")
    arguments = parser.parse_args()
    ours, peer = rows(arguments.ours), rows(arguments.peer)
    goals = PEOPLE if arguments.people else SPOKEN
    lines = [("figure", "condition", "goal", "swift-voice", "", "bare engine")]
    missed = 0

    def add(name, condition, goal, value, other, met):
        nonlocal missed
        missed += 0 if met else 1
        lines.append((name, condition, goal, percent(value), "met" if met else "missed", percent(other)))

    for condition, (key, goal) in goals.items():
        if condition in ours:
            value = ours[condition].get(key)
            add("intent and all entities right", condition, f">= {goal} %", value,
                peer.get(condition, {}).get(key), value is not None and value * 100 >= goal)
    for condition, row in ours.items():
        if row.get("filesOutsideGrammar"):
            other = peer.get(condition, {})
            kept, peer_kept = 1 - row["rejected"], 1 - other["rejected"] if other else None
            # The goals speak of clean speech; elsewhere the figures are for information.
            if condition == "clean":
                add("outside the grammar, accepted", condition, "<= 3 %", row["acceptedOutsideGrammar"],
                    other.get("acceptedOutsideGrammar"), row["acceptedOutsideGrammar"] <= 0.03)
                add("inside the grammar, kept", condition, ">= 96 %", kept, peer_kept, kept >= 0.96)
            else:
                for name, value, its in (
                        ("outside the grammar, accepted", row["acceptedOutsideGrammar"], other.get("acceptedOutsideGrammar")),
                        ("inside the grammar, kept", kept, peer_kept)):
                    lines.append((name, condition, "none", percent(value), "", percent(its)))
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print(f"\nGoals missed: {missed}")


if __name__ == "__main__":
    sys.exit(main())
