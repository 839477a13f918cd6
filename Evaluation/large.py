#!/usr/bin/env python3
"""Makes a large configuration and recordings of it: titles of two or three words that a catalogue imports, spoken by the voices for tuning.

    python3 Evaluation/large.py --titles 20000 --out .evaluation-large
    voice evaluate .evaluation-large
"""
import argparse
import json
import pathlib
import random
import re

import speak

DICTIONARY = pathlib.Path("/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict")
TEMPLATES = ["*play {please} play $title(title) {in the [kitchen | hall | office](room)}",
             "*find [find | search for | look for] $title(title)",
             "*queue [add | put] $title(title) [to | on] [the | my] list",
             "*rate give $title(title) [1..5](stars) stars"]
SENTENCES = [("play", "*play play [{}](title)"), ("play", "*play please play [{}](title) in the [kitchen](room)"),
             ("find", "*find search for [{}](title)"), ("queue", "*queue add [{}](title) to my list"),
             ("rate", "*rate give [{}](title) [four|4](stars) stars")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titles", type=int, default=20_000)
    parser.add_argument("--sentences", type=int, default=120)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    choice = random.Random(options.titles)
    words = [line.split()[0] for line in DICTIONARY.read_text(encoding="utf-8").splitlines()]
    words = [word for word in words if re.fullmatch(r"[a-z]{4,9}", word)]
    titles = sorted({" ".join(choice.sample(words, choice.choice([2, 2, 3]))) for _ in range(options.titles)})
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "titles.csv").write_text("\n".join(titles) + "\n", encoding="utf-8")
    templates = "\n".join("  " + template for template in TEMPLATES)
    (options.out / "app.yaml").write_text(
        "lang: en-US\nentities:\n  - {name: stars, type: number}\n"
        f"imports:\n  - {{name: title, source: titles.csv, field: 1}}\ntemplates: |\n{templates}\n", encoding="utf-8")
    voices = [voice for voice in speak.voices("tuning") if voice["engine"] == "flite"]
    with (options.out / "labels.jsonl").open("w", encoding="utf-8") as labels:
        for number in range(options.sentences):
            text = SENTENCES[number % len(SENTENCES)][1].format(choice.choice(titles))
            voice = voices[number % len(voices)]
            name = speak.recording(voice, text)
            path = options.out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                speak.speak_with_flite(voice, speak.plain(text), path)
            labels.write(json.dumps({"file": name, "text": text, "voice": voice["name"]}) + "\n")


if __name__ == "__main__":
    main()
