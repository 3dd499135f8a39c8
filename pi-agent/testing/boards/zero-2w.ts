import { type Board, INIT, memInfo, netDev, netWireless, osRelease, procStat } from "./common.ts";

/** Raspberry Pi Zero 2 W, Raspberry Pi OS bookworm (kernel 6.6), a weak power supply, a DS18B20 on 1-wire. */
export const PI_ZERO_2W: Board = {
  ...INIT,
  "/proc/device-tree/model": "Raspberry Pi Zero 2 W Rev 1.0\0",
  "/proc/sys/kernel/osrelease": "6.6.51+rpt-rpi-v8\n",
  "/proc/sys/kernel/hostname": "alex-eye\n",
  "/etc/os-release": osRelease(12),
  "/proc/uptime": "273912.45 1054321.11\n",
  "/proc/loadavg": "0.42 0.31 0.25 1/168 4821\n",
  "/proc/stat": procStat(4),
  "/proc/meminfo": memInfo({ total: 437_712, available: 218_856, swap: 102_396 }),
  "/proc/self/mounts":
    "/dev/mmcblk0p2 / ext4 rw,noatime 0 0\n/dev/mmcblk0p1 /boot/firmware vfat rw 0 0\ntmpfs /run tmpfs rw 0 0\n",
  "/boot/firmware/config.txt": "",
  "/proc/net/dev": netDev({ lo: [7_731, 7_731], wlan0: [376_002_795, 598_578] }),
  "/proc/net/wireless": netWireless({ wlan0: -52 }),
  "/sys/class/net/lo/operstate": "unknown\n",
  "/sys/class/net/wlan0/operstate": "up\n",
  "/sys/class/thermal/thermal_zone0/temp": "48312\n",
  "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
  "/sys/class/hwmon/hwmon0/name": "cpu_thermal\n",
  "/sys/class/hwmon/hwmon0/temp1_input": "48312\n",
  "/sys/class/hwmon/hwmon1/name": "rpi_volt\n",
  "/sys/class/hwmon/hwmon1/in0_lcrit_alarm": "1\n",
  "/sys/bus/w1/devices/28-3c01d607ab12/temperature": "21437\n",
  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "600000\n",
  "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "1000000\n",
  "/sys/devices/platform/soc/soc:firmware/get_throttled": "50005\n",
  "/sys/class/i2c-dev/i2c-1/name": "bcm2835 (i2c@7e804000)\n",
  "/sys/class/i2c-dev/i2c-2/name": "bcm2835 (i2c@7e805000)\n",
  "/sys/class/video4linux/video0/name": "unicam-image\n",
  "/sys/class/video4linux/video10/name": "bcm2835-codec-decode\n",
  "/sys/class/video4linux/video13/name": "bcm2835-isp-output0\n",
  "/run/systemd/system/.keep": "",
};

/** `gpiodetect` of it: one chip. */
export const ZERO_2W_CHIPS = [{ name: "gpiochip0", label: "pinctrl-bcm2835", lines: 54 }];
