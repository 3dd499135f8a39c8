/**
 * libgpiod's command lines without a chip: lines are files, held while the process that took them lives, and
 * inputs again afterwards, as on a Pi. Syntax, output and errors are those of 1.6.3 and 2.2 (from their
 * sources and from running 1.6.3).
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Chip, Generation } from "../../tools/machine/gpio-lines.ts";
import type { Scripts } from "./folder.ts";

type FakeLine = {
  name?: string;
  dir?: "input" | "output";
  val?: 0 | 1;
  /** Of somebody else. */
  who?: string;
  /** What another device on the wire makes of it, whatever is driven. */
  stuck?: 0 | 1;
  /** What else the pin is switched to: `SDA1`. */
  alt?: string;
};

export type FakeGpio = {
  scripts: Scripts;
  set(chip: string, pin: number, line: FakeLine): void;
  /** The line's file: `dir=output`, … */
  text(chip: string, pin: number): string;
};

/** @param options.registers the program that reads them, if any; `denied`: the user is not in the group gpio */
export function fakeGpio(
  generation: Generation,
  chips: readonly Chip[],
  options: { registers?: "pinctrl" | "raspi-gpio"; denied?: boolean } = {},
): FakeGpio {
  const state = mkdtempSync(join(tmpdir(), "edgecall-gpio-"));
  const set = (chip: string, pin: number, line: FakeLine) => {
    const { name = "", dir = "input", val = 0, who = "", stuck = "", alt = "" } = line;
    const fields = { name, dir, val, who, stuck, alt, pid: who === "" ? "" : 1 };
    const text = Object.entries(fields).map(([key, value]) => `${key}='${value}'\n`);
    writeFileSync(join(state, chip, `${pin}`), text.join(""));
  };
  for (const { name, label, lines } of chips) {
    mkdirSync(join(state, name));
    for (let pin = 0; pin < lines; pin += 1) {
      set(name, pin, label.startsWith("pinctrl-") && pin < 28 ? { name: `GPIO${pin}` } : {});
    }
  }
  const detected = chips.map(({ name, label, lines }) => `${name} [${label}] (${lines} lines)\n`).join("");
  writeFileSync(join(state, "chips"), detected);
  if (options.denied) writeFileSync(join(state, "denied"), "");
  const version = generation === 1 ? "v1.6.3" : "v2.2.1";
  const body = generation === 1 ? FIRST : SECOND;
  const script = (name: keyof typeof FIRST) =>
    `S='${state}'; ME=${name}; VERSION='${name} (libgpiod) ${version}'\n${COMMON}\n${body[name]}`;
  return {
    set,
    text: (chip, pin) => readFileSync(join(state, chip, `${pin}`), "utf8"),
    scripts: {
      gpiodetect: script("gpiodetect"),
      gpioinfo: script("gpioinfo"),
      gpioget: script("gpioget"),
      gpioset: script("gpioset"),
      ...(options.registers === "pinctrl" && { pinctrl: `S='${state}'\n${COMMON}\n${PINCTRL}` }),
      ...(options.registers === "raspi-gpio" && { "raspi-gpio": `S='${state}'\n${COMMON}\n${RASPI_GPIO}` }),
    },
  };
}

/** `load CHIP PIN` sets the fields; who holds a line and is gone has given it back: an input, pulled low. */
const COMMON = `
[ "$1" = --version ] && { echo "$VERSION"; exit 0; }
die() { echo "$ME: $1" >&2; exit 1; }
load() {
  . "$S/$1/$2"
  if [ -n "$pid" ] && ! kill -0 "$pid" 2>/dev/null; then who=; pid=; dir=input; val=0; fi
}
save() {
  printf "name='%s'\\ndir='%s'\\nval='%s'\\nwho='%s'\\nstuck='%s'\\nalt='%s'\\npid='%s'\\n" \\
    "$name" "$dir" "$val" "$who" "$stuck" "$alt" "$pid" > "$S/$1/$2.new" && mv "$S/$1/$2.new" "$S/$1/$2"
}
level() { echo "\${stuck:-$val}"; }
count() { ls "$S/$1" | wc -l; }
`;

const FIRST = {
  gpiodetect: `[ -e "$S/denied" ] && die "unable to access GPIO chips: Permission denied"\ncat "$S/chips"`,
  gpioinfo: `
[ -d "$S/$1" ] || die "looking up chip $1: No such file or directory"
n=$(count "$1"); echo "$1 - $n lines:"
i=0; while [ $i -lt $n ]; do
  load "$1" $i
  if [ -n "$name" ]; then shown="\\"$name\\""; else shown=unnamed; fi
  if [ -n "$who" ]; then by="\\"$who\\""; used=" [used]"; else by=unused; used=" "; fi
  printf '\\tline %3u: %12s %12s %7s  active-high%s\\n' $i "$shown" "$by" "$dir" "$used"
  i=$((i+1))
done`,
  gpioget: `
[ -d "$S/$1" ] || die "error reading GPIO values: No such file or directory"
[ -e "$S/$1/$2" ] || die "error reading GPIO values: Invalid argument"
load "$1" "$2"
[ -n "$who" ] && die "error reading GPIO values: Device or resource busy"
dir=input; alt=; save "$1" "$2"; level`,
  gpioset: `
[ "$1" = --mode=signal ] || exit 0
pin=\${3%=*}
[ -d "$S/$2" ] || die "error setting the GPIO line values: No such file or directory"
load "$2" "$pin"
[ -n "$who" ] && die "error setting the GPIO line values: Device or resource busy"
dir=output; val=\${3#*=}; who=gpioset; pid=$$; save "$2" "$pin"
exec sleep 1000`,
};

const SECOND = {
  gpiodetect: `
[ -e "$S/denied" ] && { echo "gpiodetect: unable to open chip '/dev/gpiochip0': Permission denied" >&2; exit 1; }
cat "$S/chips"`,
  gpioinfo: `
[ "$1" = -c ] || die "cannot find line '$1'"
[ -d "$S/$2" ] || die "cannot find GPIO chip character device '$2'"
n=$(count "$2"); echo "$2 - $n lines:"
i=0; while [ $i -lt $n ]; do
  load "$2" $i
  if [ -n "$name" ]; then shown="\\"$name\\""; else shown=unnamed; fi
  printf '\\tline %3u:\\t%-16s\\t%s%s\\n' $i "$shown" "$dir" "\${who:+ consumer=\\"$who\\"}"
  i=$((i+1))
done`,
  gpioget: `
asis=; numeric=; chip=
while :; do case "$1" in
  --as-is|-a) asis=1; shift;; --numeric) numeric=1; shift;; -C) shift 2;; -c) chip=$2; shift 2;; *) break;;
esac; done
[ -n "$chip" ] || die "cannot find line '$1'"
[ -d "$S/$chip" ] || die "cannot find GPIO chip character device '$chip'"
[ -e "$S/$chip/$1" ] || die "offset $1 is out of range on chip '$chip'"
load "$chip" "$1"
[ -n "$who" ] && die "unable to request lines: Device or resource busy"
[ -n "$asis" ] || { dir=input; alt=; save "$chip" "$1"; }
if [ -n "$numeric" ]; then level; elif [ "$(level)" = 1 ]; then echo "\\"$1\\"=active"; else echo "\\"$1\\"=inactive"; fi`,
  gpioset: `
chip=; consumer=gpioset
while :; do case "$1" in -C) consumer=$2; shift 2;; -c) chip=$2; shift 2;; *) break;; esac; done
pin=\${1%=*}
[ -d "$S/$chip" ] || die "cannot find GPIO chip character device '$chip'"
[ -e "$S/$chip/$pin" ] || die "offset $pin is out of range on chip '$chip'"
load "$chip" "$pin"
[ -n "$who" ] && die "unable to request lines on chip '/dev/$chip': Device or resource busy"
dir=output; val=\${1#*=}; who=$consumer; pid=$$; save "$chip" "$pin"
exec sleep 1000`,
};

/** Of the header's chip: the one with a line GPIO2. */
const HEADER = `chip=$(grep -l "name='GPIO2'" "$S"/*/2 | head -n 1); chip=$(basename "$(dirname "$chip")")`;

const PINCTRL = `
${HEADER}; load "$chip" "$2"
[ "$(level)" = 1 ] && l=hi || l=lo
if [ -n "$alt" ]; then echo " $2: a3    pu | $l // GPIO$2 = $alt"
elif [ $dir = output ]; then [ "$val" = 1 ] && d=dh || d=dl; echo " $2: op $d pd | $l // GPIO$2 = output"
else echo " $2: ip    pd | $l // GPIO$2 = input"; fi`;

const RASPI_GPIO = `
${HEADER}; load "$chip" "$2"
if [ -n "$alt" ]; then echo "GPIO $2: level=$(level) fsel=4 alt=0 func=$alt pull=UP"
elif [ $dir = output ]; then echo "GPIO $2: level=$(level) fsel=1 func=OUTPUT pull=DOWN"
else echo "GPIO $2: level=$(level) fsel=0 func=INPUT pull=DOWN"; fi`;
