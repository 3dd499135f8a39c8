/**
 * A filter of system calls (seccomp) for programs in the sandbox. `fallocate` takes gigabytes of the disk in milliseconds, before any check
 * of what a call wrote can see it. So it is not supported there: a program that wants its blocks writes them, at the speed of the disk.
 * A set-uid file in the workspace would run with the agent's rights for every user of the machine. So none is made, as with systemd's
 * RestrictSUIDSGID.
 */
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** System calls by the position of their argument `mode`, or of `flags` before it; the first argument is 0. */
type Machine = {
  arch: number;
  fallocate: number;
  ioctl: readonly number[];
  /** chmod, fchmod, creat, mknod */
  mode1: readonly number[];
  /** fchmodat, mknodat */
  mode2: readonly number[];
  /** open */
  flags1: readonly number[];
  /** openat */
  flags2: readonly number[];
};

/** The calls of the machines that came with 64 bits. */
const GENERIC = { fallocate: 47, ioctl: [29], mode1: [52], mode2: [53, 33], flags1: [], flags2: [56] };
/** The kernel's numbers, by the `AUDIT_ARCH_*` of a call: a 64-bit kernel takes those of 32-bit programs as well. */
const MACHINES: readonly Machine[] = [
  // x86-64, and x32 without its bit
  {
    arch: 0xc000003e,
    fallocate: 285,
    ioctl: [16, 514],
    mode1: [90, 91, 85, 133],
    mode2: [268, 259],
    flags1: [2],
    flags2: [257],
  },
  // i386
  {
    arch: 0x40000003,
    fallocate: 324,
    ioctl: [54],
    mode1: [15, 94, 8, 14],
    mode2: [306, 297],
    flags1: [5],
    flags2: [295],
  },
  // ARM, 32 bits
  {
    arch: 0x40000028,
    fallocate: 352,
    ioctl: [54],
    mode1: [15, 94, 8, 14],
    mode2: [333, 324],
    flags1: [5],
    flags2: [322],
  },
  { arch: 0xc00000b7, ...GENERIC }, // ARM, 64 bits
  { arch: 0xc00000f3, ...GENERIC }, // RISC-V, 64 bits
];
// The same on all machines.
/** It can ask for `fallocate` past any filter. */
const IO_URING_SETUP = 425;
/** Its mode is in memory, where no filter reads it. Programs fall back on `openat`. */
const OPENAT2 = 437;
const FCHMODAT2 = 452;
/** The older ways: the end of FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, XFS_IOC_ALLOCSP and its 64. */
const IOCTLS = [0x5828, 0x582a, 0x5839, 0x580a, 0x5824];
const X32_BIT = 0x40000000;

const S_ISUID_AND_GID = 0o6000;
/** O_CREAT, and O_TMPFILE without the bit of O_DIRECTORY. */
const CREATES = 0o20000100;

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const ALLOW = 0x7fff0000;
const errno = (number: number) => 0x00050000 | number;

// The code of BPF (linux/bpf_common.h), and where the kernel puts what it tells of a call (struct seccomp_data).
const LOAD = 0x20;
const AND = 0x54;
const EQUAL = 0x15;
const HAS_ANY = 0x45;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCH_AT = 4;
/** The lower half of an argument, on machines that store it first. */
const argumentAt = (position: number) => 16 + 8 * position;

type Step = readonly [code: number, k: number, ifEqual?: number, ifNot?: number];

/** @returns `struct sock_filter[]`, as bubblewrap's --seccomp reads it */
export function callFilter(): Buffer {
  const steps = [...MACHINES.flatMap(ofMachine), [RETURN, ALLOW] as const];
  const program = Buffer.alloc(steps.length * 8);
  for (const [at, [code, k, ifEqual = 0, ifNot = 0]] of steps.entries()) {
    program.writeUInt16LE(code, at * 8);
    program.writeUInt8(ifEqual, at * 8 + 2);
    program.writeUInt8(ifNot, at * 8 + 3);
    program.writeUInt32LE(k, at * 8 + 4);
  }
  return program;
}

function ofMachine({ arch, fallocate, ioctl, mode1, mode2, flags1, flags2 }: Machine): Step[] {
  const calls: Step[] = [
    [LOAD, NUMBER_AT],
    [AND, ~X32_BIT >>> 0],
    ...when([fallocate], [[RETURN, errno(EOPNOTSUPP)]]),
    ...when([IO_URING_SETUP, OPENAT2], [[RETURN, errno(ENOSYS)]]),
    ...when(ioctl, [
      [LOAD, argumentAt(1)],
      [AND, 0xffff],
      ...IOCTLS.flatMap((request) => when([request], [[RETURN, errno(EOPNOTSUPP)]])),
      [RETURN, ALLOW],
    ]),
    ...when(mode1, plainMode(1)),
    ...when([...mode2, FCHMODAT2], plainMode(2)),
    ...when(flags1, ifCreating(1)),
    ...when(flags2, ifCreating(2)),
    [RETURN, ALLOW],
  ];
  return [[LOAD, ARCH_AT], [EQUAL, arch, 0, calls.length], ...calls];
}

/** Steps that are taken if the loaded value is one of these; they have to end with RETURN. */
function when(values: readonly number[], steps: readonly Step[]): Step[] {
  const last = values.length - 1;
  return last < 0
    ? []
    : [
        ...values.map((value, at): Step => [EQUAL, value, last - at, at === last ? steps.length : 0]),
        ...steps,
      ];
}

function plainMode(position: number): Step[] {
  return [
    [LOAD, argumentAt(position)],
    [HAS_ANY, S_ISUID_AND_GID, 0, 1],
    [RETURN, errno(EPERM)],
    [RETURN, ALLOW],
  ];
}

/** A mode that comes without the flag is anything. */
function ifCreating(flags: number): Step[] {
  return [[LOAD, argumentAt(flags)], [HAS_ANY, CREATES, 1, 0], [RETURN, ALLOW], ...plainMode(flags + 1)];
}

/** Descriptor of the filter in bubblewrap. */
export const FILTER_FD = 9;

let path: string | undefined;

/**
 * Returns the prefix of a command that reads the filter from descriptor 9. Empty where the kernel has no filters. The file has no name,
 * so no program can change it.
 */
export function withFilter(): readonly string[] {
  if (!existsSync("/proc/sys/kernel/seccomp/actions_avail")) return [];
  path ??= `/proc/${process.pid}/fd/${openFilter()}`;
  return ["/bin/sh", "-c", `exec ${FILTER_FD}<"$0" && exec "$@"`, path];
}

function openFilter(): number {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-filter-"));
  try {
    writeFileSync(join(dir, "filter"), callFilter(), { mode: 0o400 });
    return openSync(join(dir, "filter"), "r");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
