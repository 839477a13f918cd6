#!/usr/bin/env python3
"""Lets the bare engine hear what `voice evaluate --keep-audio` kept, and prints what it understood."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).parent
DICTIONARY = "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"


def grammar(program, domain, folder):
    """The domain as JSGF, without words that the engine's dictionary lacks: one of them would refuse the whole."""
    with open(DICTIONARY, encoding="utf-8") as file:
        known = {line.split(None, 1)[0] for line in file if line.strip()}
    text = subprocess.run(
        [program, "sal", "export", "--config", str(HERE / domain / "app.yaml")], check=True, capture_output=True,
        text=True).stdout
    header, rules = text.split("\n", 2)[:2], text.split("\n", 2)[2]
    rules = re.sub(
        r"(?<![<\w])[a-z][a-z'.\-]*(?![\w>])", lambda word: word[0] if word[0] in known or word[0] == "public" else "<VOID>",
        rules)
    path = folder / f"{domain}.jsgf"
    path.write_text("\n".join(header) + "\n" + rules, encoding="utf-8")
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--voice", required=True, help="the program voice")
    parser.add_argument("--engine", required=True, help="the program bare_engine")
    parser.add_argument("--set", type=pathlib.Path, required=True, help="the folder of the domains")
    parser.add_argument("--audio", type=pathlib.Path, required=True, help="the folder of --keep-audio")
    arguments = parser.parse_args()

    def hear(domain, path, condition):
        work = []
        for line in (arguments.set / domain / "labels.jsonl").read_text(encoding="utf-8").splitlines():
            label = json.loads(line)
            name = f"{condition}/{domain}/{label['file']}"
            # An evaluation of a part of the set kept only that.
            if (arguments.audio / name).exists():
                work.append(f"{label['voice']}\t{name}\n")
        return subprocess.run(
            [arguments.engine, str(path), str(arguments.audio)], input="".join(work), check=True,
            stdout=subprocess.PIPE, text=True).stdout

    conditions = sorted(path.name for path in arguments.audio.iterdir() if path.is_dir())
    with concurrent.futures.ThreadPoolExecutor() as executor:
        results = []
        for folder in sorted(path.parent for path in arguments.set.glob("*/labels.jsonl")):
            path = grammar(arguments.voice, folder.name, arguments.audio)
            results += [executor.submit(hear, folder.name, path, condition) for condition in conditions]
        for result in results:
            print(result.result(), end="")


if __name__ == "__main__":
    main()
