import { expect, test } from "vitest";
import { bwrapArguments } from "./bwrap-arguments.ts";
import { SANDBOX_LIMITS, type SandboxProfile } from "./sandbox-profile.ts";

const PROFILE: SandboxProfile = {
  workspace: "/home/pi/ws",
  readable: ["/etc/hostname"],
  system: new Map([
    ["/bin", "usr/bin"],
    ["/lib", undefined],
  ]),
  limits: SANDBOX_LIMITS,
  prlimit: true,
};
const made = (grants?: { network?: boolean; devices?: string[] }, profile: Partial<SandboxProfile> = {}) =>
  bwrapArguments({ ...PROFILE, ...profile }, { argv: ["ls"], cwd: "/home/pi/ws", ...(grants && { grants }) });
const text = (...args: Parameters<typeof made>) => made(...args).join(" ");

test("everything is closed, and the workspace is mounted last", () => {
  for (const flag of ["user", "ipc", "pid", "uts", "net"]) expect(made()).toContain(`--unshare-${flag}`);
  for (const flag of ["--disable-userns", "--die-with-parent", "--new-session"])
    expect(made()).toContain(flag);
  expect(text()).toContain("--cap-drop ALL");
  expect(text()).toContain(
    "--bind /home/pi/ws /home/pi/ws --remount-ro /proc --remount-ro / --chdir / -- /bin/sh -c",
  );
  expect(made().filter((word) => word === "--bind")).toHaveLength(1);
  expect(text()).not.toMatch(/--(dev-)?bind \/ |--share-net|resolv\.conf/);
  expect(text()).toContain("--symlink usr/bin /bin");
  expect(text()).toContain("--ro-bind /lib /lib");
  expect(text()).toContain("--ro-bind-try /etc/hostname /etc/hostname");
  expect(made().slice(-3)).toEqual(["/home/pi/ws", "/home/pi/ws", "ls"]);
});

test("a grant opens only what it names", () => {
  expect(made({ network: true })).not.toContain("--unshare-net");
  expect(text({ network: true })).toContain("--ro-bind-try /etc/resolv.conf");
  expect(text({ devices: ["/dev/i2c-1"] })).toContain("--dev /dev --dev-bind /dev/i2c-1 /dev/i2c-1");
  expect(made({ devices: ["/dev/i2c-1"] })).toContain("--unshare-net");
});

test.each([
  "/etc/shadow",
  "/dev",
  "/dev/",
  "/dev/../etc",
  "/dev/a/../../etc",
  "dev/sda",
  "/dev/a b",
  "/dev//x",
])("%s is not a device", (device) => expect(() => made({ devices: [device] })).toThrow("no device"));

test.each(["/", "/usr", "/usr/local/x", "/proc/1", "/dev/shm", "/tmp", "relative", "/a/../b", "/a/"])(
  "%s is not a workspace",
  (workspace) => expect(() => made(undefined, { workspace })).toThrow("cannot be the workspace"),
);

test.each(["/home/pi/ws/sub", "/home/pi/ws", "relative", "/etc/../root"])("%s cannot be readable", (path) => {
  expect(() => made(undefined, { readable: [path] })).toThrow(/workspace|plain absolute/);
});

test("limits are set if prlimit exists", () => {
  expect(text()).toContain("prlimit --core=0 --nproc=256 --fsize=1073741824 --data=2147483648 -- ");
  expect(text(undefined, { prlimit: false })).not.toContain("prlimit");
});
