/** What tools that only read have in common. Some say other times. */

export const DEVICE_READ = {
  effect: "read",
  permission: "device",
  idempotent: true,
  timeoutMs: 10_000,
  maxTimeoutMs: 60_000,
} as const;

export const FILE_READ = {
  effect: "read",
  permission: "file_read",
  idempotent: true,
  taints: true,
  timeoutMs: 5_000,
  maxTimeoutMs: 30_000,
} as const;
