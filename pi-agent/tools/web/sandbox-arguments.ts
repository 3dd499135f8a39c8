/**
 * What the browser's sandbox is: the arguments of bubblewrap and of Chromium, as pure functions, so that all of
 * it can be read and tested.
 *
 * Two walls: bubblewrap (no network, no files of the host but its programs, no other processes) and, within it,
 * Chromium's own sandbox around each page, which needs an ordinary user and namespaces of its own; so those are
 * left to it here, other than in env/sandbox/bwrap-arguments.ts.
 */
import { dirname } from "node:path";
import { RELAY_PORT, RELAY_SCRIPT } from "./relay.ts";

export type BrowserPlace = {
  /** Chromium; absolute. */
  program: string;
  /** The Node that carries the relay; absolute. */
  node: string;
  /** The guard's Unix socket; absent: no way out at all. */
  socket?: string;
  /** `/bin`, `/lib` and the like: what each one links to, or undefined for a folder of its own. */
  system: ReadonlyMap<string, string | undefined>;
  /** Folders of /proc that are there. */
  proc: readonly string[];
};

/** Of /tmp and of /dev/shm, each of which is memory: caches, and the pictures of pages on their way. */
const TEMPORARY_BYTES = 256 * 1024 ** 2;
const USER = "1000";
const NODE = "/run/edgecall/node";
const SOCKET = "/run/edgecall/guard";
const SYSTEM_FILES = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"];
/**
 * Root without a capability may still write to what root owns: /proc/sys/kernel/core_pattern names a program that
 * the kernel starts outside of any sandbox. All of /proc cannot be read-only: Chromium's sandbox writes its
 * /proc/self/uid_map.
 */
export const COVERED_PROC = ["sys", "irq", "bus", "fs", "scsi", "acpi", "driver"];

/** Of bwrap itself and of all that runs in it: /proc/1/environ there shows it. */
export const BROWSER_ENV = { PATH: "/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8", TMPDIR: "/tmp" };

/** Up to and with the `--` before the program. */
export function sandboxArguments({ program, node, socket, system, proc }: BrowserPlace): string[] {
  const size = String(TEMPORARY_BYTES);
  return [
    "--unshare-all",
    "--unshare-user",
    // As root, Chromium would refuse to start or have to go without its own sandbox.
    ...["--uid", USER, "--gid", USER],
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...["--ro-bind", "/usr", "/usr"],
    ...[...system].flatMap(([path, link]) =>
      link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path],
    ),
    ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, path]),
    ...(program.startsWith("/usr/") ? [] : ["--ro-bind", dirname(program), dirname(program)]),
    ...["--ro-bind", node, NODE],
    ...(socket === undefined ? [] : ["--ro-bind", socket, SOCKET]),
    ...["--dev", "/dev"],
    ...["--proc", "/proc"],
    ...proc.flatMap((name) => ["--tmpfs", `/proc/${name}`, "--remount-ro", `/proc/${name}`]),
    ...["--size", size, "--tmpfs", "/dev/shm"],
    ...["--size", size, "--tmpfs", "/tmp"],
    ...["--remount-ro", "/"],
    ...["--chdir", "/tmp"],
    "--",
  ];
}

/** All arguments of bwrap that start the relay and Chromium, with Playwright's line on descriptors 3 and 4. */
export function browserArguments(place: BrowserPlace): string[] {
  return [
    ...sandboxArguments(place),
    ...[NODE, "--max-old-space-size=64", "-e", RELAY_SCRIPT, "--", SOCKET, String(RELAY_PORT)],
    ...[place.program, ...CHROMIUM_ARGUMENTS],
  ];
}

export const CHROMIUM_ARGUMENTS: readonly string[] = [
  "--headless",
  "--remote-debugging-pipe",
  "--no-startup-window",
  "--user-data-dir=/tmp/profile",
  // All traffic to the guard. The sandbox has no other way out; these keep Chromium from trying one.
  `--proxy-server=http://127.0.0.1:${RELAY_PORT}`,
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--disable-quic",
  "--dns-prefetch-disable",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Nothing that Chromium does on its own account: updates, reports, hints, accounts.
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-field-trial-config",
  "--disable-search-engine-choice-screen",
  "--disable-sync",
  "--disable-features=AimEnabled,AutofillServerCommunication,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PreconnectToSearch,Translate",
  "--metrics-recording-only",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
  // What a page without a person needs; the last one is how Playwright takes its pictures.
  "--disable-back-forward-cache",
  "--disable-gpu",
  "--disable-hang-monitor",
  "--disable-prompt-on-repost",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
  "--mute-audio",
  "--password-store=basic",
  "--renderer-process-limit=4",
  "--enable-features=CDPScreenshotNewSurface",
];
