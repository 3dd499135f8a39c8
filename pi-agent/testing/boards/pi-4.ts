import { type Board, INIT, memInfo, netDev, netWireless, osRelease, procStat } from "./common.ts";

/** Raspberry Pi 4, Raspberry Pi OS bookworm (kernel 6.6), on Ethernet, with a USB webcam and a BME280 on I2C. */
export const PI_4: Board = {
  ...INIT,
  "/proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0",
  "/proc/sys/kernel/osrelease": "6.6.62+rpt-rpi-v8\n",
  "/proc/sys/kernel/hostname": "attic\n",
  "/etc/os-release": osRelease(12),
  "/proc/uptime": "1209784.10 4510234.98\n",
  "/proc/loadavg": "1.02 0.84 0.61 2/241 30122\n",
  "/proc/stat": procStat(4),
  "/proc/meminfo": memInfo({ total: 3_884_324, available: 2_913_243, swap: 524_284 }),
  "/proc/self/mounts":
    "/dev/sda2 / ext4 rw,noatime 0 0\n/dev/sda1 /boot/firmware vfat rw 0 0\noverlay /var/lib/docker/overlay2/x/merged overlay rw 0 0\n",
  "/boot/firmware/config.txt": "",
  "/proc/net/dev": netDev({ lo: [52_000, 52_000], eth0: [98_700_000_000, 1_200_000_000], wlan0: [0, 0] }),
  "/proc/net/wireless": netWireless({}),
  "/sys/class/net/lo/operstate": "unknown\n",
  "/sys/class/net/eth0/operstate": "up\n",
  "/sys/class/net/wlan0/operstate": "down\n",
  "/sys/class/thermal/thermal_zone0/temp": "61342\n",
  "/sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
  "/sys/class/hwmon/hwmon0/name": "cpu_thermal\n",
  "/sys/class/hwmon/hwmon0/temp1_input": "61342\n",
  "/sys/class/hwmon/hwmon1/name": "rpi_volt\n",
  "/sys/class/hwmon/hwmon1/in0_lcrit_alarm": "0\n",
  "/sys/bus/iio/devices/iio:device0/name": "bme280\n",
  "/sys/bus/iio/devices/iio:device0/in_temp_input": "22180\n",
  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "1500000\n",
  "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "1800000\n",
  "/sys/devices/platform/soc/soc:firmware/get_throttled": "0\n",
  "/sys/class/i2c-dev/i2c-1/name": "bcm2835 (i2c@7e804000)\n",
  "/sys/class/i2c-dev/i2c-20/name": "fef04500.i2c\n",
  "/sys/class/video4linux/video0/name": "UVC Camera (046d:0825)\n",
  "/sys/class/video4linux/video0/index": "0\n",
  "/sys/class/video4linux/video1/name": "UVC Camera (046d:0825)\n",
  "/sys/class/video4linux/video1/index": "1\n",
  "/sys/class/video4linux/video10/name": "bcm2835-codec-decode\n",
  "/sys/class/video4linux/video19/name": "rpivid\n",
  "/run/systemd/system/.keep": "",
};

/** The second one drives the board's own LEDs and resets. */
export const PI_4_CHIPS = [
  { name: "gpiochip0", label: "pinctrl-bcm2711", lines: 58 },
  { name: "gpiochip1", label: "raspberrypi-exp-gpio", lines: 8 },
];
