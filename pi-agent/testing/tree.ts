import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Writes files below a new temporary folder. @returns the folder */
export function tree(files: Record<string, string | Buffer>): string {
  const root = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }
  return root;
}

/** The /proc and /sys of a Pi Zero 2 W with Raspberry Pi OS (bookworm). */
export const PI_ZERO_2W: Record<string, string> = {
  "/proc/device-tree/model": "Raspberry Pi Zero 2 W Rev 1.0\0",
  "/proc/sys/kernel/osrelease": "6.6.51+rpt-rpi-v8\n",
  "/proc/sys/kernel/hostname": "alex-eye\n",
  "/etc/hostname": "alex-eye\n",
  "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\n',
  "/proc/uptime": "273912.45 1054321.11\n",
  "/proc/loadavg": "0.42 0.31 0.25 1/168 4821\n",
  "/proc/stat": [
    "cpu  100 0 100 800 0 0 0 0 0 0",
    "cpu0 25 0 25 200 0 0 0 0 0 0",
    "cpu1 25 0 25 200 0 0 0 0 0 0",
    "cpu2 25 0 25 200 0 0 0 0 0 0",
    "cpu3 25 0 25 200 0 0 0 0 0 0",
    "intr 1\n",
  ].join("\n"),
  "/proc/meminfo":
    "MemTotal:         437712 kB\nMemFree:           91000 kB\nMemAvailable:     218856 kB\nSwapTotal:        102396 kB\nSwapFree:          92396 kB\n",
  "/proc/self/mounts": [
    "sysfs /sys sysfs rw 0 0",
    "proc /proc proc rw 0 0",
    "tmpfs /run tmpfs rw,size=87544k 0 0",
    "/dev/mmcblk0p2 / ext4 rw,noatime 0 0",
    "/dev/mmcblk0p1 /boot/firmware vfat rw 0 0",
    "/dev/mmcblk0p2 /var/snap/x ext4 rw 0 0",
    "/dev/loop0 /snap/core squashfs ro 0 0",
    "/dev/sda1 /media/my\\040stick vfat rw 0 0",
    "nas:/x /nas nfs4 rw 0 0\n",
  ].join("\n"),
  "/boot/firmware/config.txt": "",
  "/media/my stick/a.txt": "",
  "/proc/net/dev": [
    "Inter-|   Receive                                                |  Transmit",
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
    "    lo:    7731      91    0    0    0     0          0         0     7731      91    0    0    0     0       0          0",
    " wlan0:376002795    9597    0    0    0     0          0         0   598578    5573    0    0    0     0       0          0\n",
  ].join("\n"),
  "/proc/net/wireless": [
    "Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE",
    " face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22",
    " wlan0: 0000   58.  -52.  -256        0      0      0      0     12        0\n",
  ].join("\n"),
  "/sys/class/net/wlan0/operstate": "up\n",
  "/sys/class/thermal/thermal_zone0/temp": "48312\n",
  "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
  "/sys/class/hwmon/hwmon0/name": "cpu_thermal\n",
  "/sys/class/hwmon/hwmon0/temp1_input": "48312\n",
  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "600000\n",
  "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "1000000\n",
  "/sys/devices/platform/soc/soc:firmware/get_throttled": "50005\n",
  "/proc/1/stat": "1 (systemd) S 0 1 1 0 -1 4194560 1 1 1 1 120 80 0 0 20 0 1 0 5 1 2000 1\n",
  "/proc/1/status": "Name:\tsystemd\nVmRSS:\t   11264 kB\n",
  "/proc/1/cmdline": "/sbin/init\0splash\0",
  "/proc/77/stat": "77 (my (odd) proc) R 1 1 1 0 -1 4194560 1 1 1 1 900 100 0 0 20 0 1 0 5 1 3000 1\n",
  "/proc/77/status": "Name:\tmy (odd) proc\nVmRSS:\t   40960 kB\n",
  "/proc/77/cmdline": "sync\0--password\0hunter2\0mqtt://me:hunter2@broker\0",
  "/proc/88/stat": "88 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 3 0 0 20 0 1 0 9 0 0 1\n",
  "/proc/88/status": "Name:\tkworker/0:1\n",
  "/proc/88/cmdline": "",
};

/** A Pi 5 with an NVMe disk: more sensors, some of them without a thermal zone. */
export const PI_5: Record<string, string> = {
  ...PI_ZERO_2W,
  "/proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0\0",
  "/sys/class/hwmon/hwmon1/name": "rp1_adc\n",
  "/sys/class/hwmon/hwmon1/temp1_input": "51020\n",
  "/sys/class/hwmon/hwmon2/name": "nvme\n",
  "/sys/class/hwmon/hwmon2/temp1_input": "39850\n",
  "/sys/class/hwmon/hwmon2/temp1_label": "Composite\n",
  "/sys/class/hwmon/hwmon2/temp2_input": "65261850\n",
  "/sys/devices/platform/soc/soc:firmware/get_throttled": "0\n",
};
