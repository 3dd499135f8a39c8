/**
 * The browser's sandbox: the arguments of bubblewrap and Chromium, as pure functions that are easy to read and test.
 *
 * There are two layers. Bubblewrap gives no network, no host files except programs, and no other processes. Inside it,
 * Chromium's own sandbox isolates each page. That one needs an ordinary user and its own namespaces, so bubblewrap leaves
 * these available here, unlike env/sandbox/bwrap-arguments.ts.
 */
import { dirname } from "node:path";
import { RELAY_PORT, RELAY_SCRIPT } from "./relay.ts";

export type BrowserPlace = {
  /** Absolute path of Chromium. */
  program: string;
  /** Absolute path of the Node that runs the relay. */
  node: string;
  /** The guard's Unix socket; absent = no network at all. */
  socket?: string;
  /** `/bin`, `/lib` and the like, each with its link target, or undefined for a real folder. */
  system: ReadonlyMap<string, string | undefined>;
  /** Folders that exist in /proc. */
  proc: readonly string[];
};

/** Size of /tmp and of /dev/shm, which are in memory: caches and screenshots. */
const TEMPORARY_BYTES = 256 * 1024 ** 2;
const USER = "1000";
const NODE = "/run/edgecall/node";
const SOCKET = "/run/edgecall/guard";
const SYSTEM_FILES = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"];
/**
 * Root without capabilities may still write files that root owns. /proc/sys/kernel/core_pattern, for one, names a program
 * that the kernel starts outside of any sandbox. Not all of /proc can be read-only, because Chromium's sandbox writes
 * /proc/self/uid_map.
 */
export const COVERED_PROC = ["sys", "irq", "bus", "fs", "scsi", "acpi", "driver"];

/** Environment of bwrap and everything in it; /proc/1/environ exposes it inside. */
export const BROWSER_ENV = { PATH: "/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8", TMPDIR: "/tmp" };

/** Returns the arguments up to and including the `--` before the program. */
export function sandboxArguments({ program, node, socket, system, proc }: BrowserPlace): string[] {
  const size = String(TEMPORARY_BYTES);
  return [
    "--unshare-all",
    "--unshare-user",
    // As root, Chromium would refuse to start, or run without its own sandbox.
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

/** Returns all arguments of bwrap to start the relay and Chromium, with Playwright's pipes on descriptors 3 and 4. */
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
  // All traffic goes to the guard. There is no other way out; these options keep Chromium from trying.
  `--proxy-server=http://127.0.0.1:${RELAY_PORT}`,
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--disable-quic",
  "--dns-prefetch-disable",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Switches off Chromium's own traffic: updates, reports, hints, accounts.
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
  // Options for a page without a person; Playwright's screenshots need the last one.
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
