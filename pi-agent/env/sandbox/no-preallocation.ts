/**
 * A filter of system calls (seccomp) for programs in the sandbox. `fallocate` takes gigabytes of the disk in milliseconds, before any check
 * of what a call wrote can see it. So it is not supported there: a program that wants its blocks writes them, at the speed of the disk.
 */
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Machine = { arch: number; fallocate: number; ioctl: readonly number[] };

/** The kernel's numbers, by the `AUDIT_ARCH_*` of a call: a 64-bit kernel takes those of 32-bit programs as well. */
const MACHINES: readonly Machine[] = [
  { arch: 0xc000003e, fallocate: 285, ioctl: [16, 514] }, // x86-64, and x32 without its bit
  { arch: 0x40000003, fallocate: 324, ioctl: [54] }, // i386
  { arch: 0xc00000b7, fallocate: 47, ioctl: [29] }, // ARM, 64 bits
  { arch: 0x40000028, fallocate: 352, ioctl: [54] }, // ARM, 32 bits
  { arch: 0xc00000f3, fallocate: 47, ioctl: [29] }, // RISC-V, 64 bits
];
/** It can ask for `fallocate` past any filter. The same on all machines. */
const IO_URING_SETUP = 425;
/** The older ways: the end of FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, XFS_IOC_ALLOCSP and its 64. */
const IOCTLS = [0x5828, 0x582a, 0x5839, 0x580a, 0x5824];
const X32_BIT = 0x40000000;

const ENOSYS = 38;
const EOPNOTSUPP = 95;
const ALLOW = 0x7fff0000;
const errno = (number: number) => 0x00050000 | number;

// The code of BPF (linux/bpf_common.h), and where the kernel puts what it tells of a call (struct seccomp_data).
const LOAD = 0x20;
const AND = 0x54;
const EQUAL = 0x15;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCH_AT = 4;
/** The lower half of the second argument. */
const REQUEST_AT = 24;

type Step = readonly [code: number, k: number, ifEqual?: number, ifNot?: number];

/** @returns `struct sock_filter[]`, as bubblewrap's --seccomp reads it */
export function preallocationFilter(): Buffer {
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

function ofMachine({ arch, fallocate, ioctl }: Machine): Step[] {
  const isIoctl = ioctl.map((number): Step => [EQUAL, number, 0, 0]);
  const requests: Step[] = [
    [LOAD, REQUEST_AT],
    [AND, 0xffff],
    ...IOCTLS.flatMap((request): Step[] => [
      [EQUAL, request, 0, 1],
      [RETURN, errno(EOPNOTSUPP)],
    ]),
    [RETURN, ALLOW],
  ];
  const calls: Step[] = [
    [LOAD, NUMBER_AT],
    [AND, ~X32_BIT >>> 0],
    [EQUAL, fallocate, 0, 1],
    [RETURN, errno(EOPNOTSUPP)],
    [EQUAL, IO_URING_SETUP, 0, 1],
    [RETURN, errno(ENOSYS)],
    // Each jumps over those that follow it and the return, to the look at its request.
    ...isIoctl.map(([code, k], at): Step => [code, k, isIoctl.length - at, 0]),
    [RETURN, ALLOW],
    ...requests,
  ];
  return [[LOAD, ARCH_AT], [EQUAL, arch, 0, calls.length], ...calls];
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
    writeFileSync(join(dir, "filter"), preallocationFilter(), { mode: 0o400 });
    return openSync(join(dir, "filter"), "r");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
