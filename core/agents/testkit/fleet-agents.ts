/** Agents of small fleets, made by a seeded generator: an office, a factory, a laboratory, a farm, single-board computers. */
import type { Make } from "./actions.ts";
import type { FixtureRow } from "./house-agents.ts";

/** mulberry32: the same numbers for the same seed, everywhere. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const MEETING_ROOMS = [
  ["Lobby Lounge", "Boardroom", "Vienna", "Prague"],
  ["Oslo", "Paris", "Rome", "Lisbon", "Dublin"],
  ["Tokyo", "Lima", "Cairo", "Delhi", "Quito", "Sydney"],
] as const;
const FLOORS = ["ground floor", "1st floor", "2nd floor"];
const MACHINES = [
  ["haas", "CNC milling machine Haas VF-2", 6],
  ["dmg", "5-axis machining centre DMG Mori", 4],
  ["index", "CNC lathe Index C100", 5],
  ["arburg", "Injection moulding machine Arburg 470", 8],
  ["trumpf", "Laser cutter Trumpf 3030", 2],
  ["brake", "Press brake 130 t", 2],
  ["press", "Hydraulic press 250 t", 4],
  ["kuka", "Welding robot KUKA KR16", 4],
  ["paint", "Powder coating booth", 1],
  ["kiln", "Hardening furnace 1,100 °C", 2],
  ["pack", "Packaging machine, carton erector and labeller", 2],
] as const;
const CROPS = [
  "tomatoes",
  "cucumbers",
  "peppers",
  "strawberries",
  "salad",
  "herbs",
  "potatoes",
  "carrots",
  "onions",
  "apples",
];
const PIS = [
  ["pi4-attic", "weather satellite receiver (SDR) in the attic"],
  ["pi-adsb", "ADS-B receiver: planes overhead, antenna on the roof"],
  ["rpi-kiosk-lobby", "welcome screen in the lobby of the office"],
  ["rpi-kiosk-canteen", "menu board in the canteen"],
  ["pi5-frigate", "Frigate NVR with Coral stick: recordings of all house cameras"],
  ["pi-klipper", "Klipper host of the Voron 3D printer"],
  ["pi-mopidy", "music server with DAC for the terrace speakers"],
  ["pi-grafana", "Grafana and InfluxDB: charts of all sensors"],
  ["pi-mqtt", "Mosquitto broker of the farm"],
  ["pi-lorawan", "LoRaWAN gateway on the barn roof (ChirpStack)"],
  ["pi-vpn", "WireGuard VPN server"],
  ["pi-seedbox", "torrent box for Linux images"],
  ["pi-timelapse", "time-lapse camera of the building site"],
  ["pi-birdnet", "BirdNET: recognises birds by their song, microphone in the garden"],
  ["pi-zero-doorbell", "old chime in the hallway, relay and speaker"],
  ["pi-mirror", "magic mirror in the bathroom: weather, news, calendar"],
  ["pi-octo-lab", "camera and timer at the microscope of the lab"],
  ["pi-label", "label printer server in shipping"],
  ["pi-scada", "data logger of hall 2, Modbus to MQTT"],
  ["pi-ntp", "GPS time server of the office network"],
] as const;
const PI_LINE =
  "temperature, CPU/memory/disk stats, process monitoring, GPIO pins, services and their logs, files, shell";

/** @returns rows in a fixed order; the seed chooses among the ways of writing a line */
export function fleetRows(seed = 13): FixtureRow[] {
  const random = seeded(seed);
  const rows: FixtureRow[] = [];
  const one = (...ways: string[]): string => ways[Math.floor(random() * ways.length)] ?? "";
  const add = (id: string, make: Make, ...ways: string[]): void => void rows.push([id, make, one(...ways)]);
  const two = (number: number): string => String(number).padStart(2, "0");

  // The office: three floors.
  MEETING_ROOMS.forEach((rooms, floor) => {
    const where = FLOORS[floor] ?? "";
    for (const room of rooms) {
      const key = `hq-${floor}-${room.toLowerCase().replaceAll(" ", "-")}`;
      add(
        `${key}-co2`,
        "co2",
        `CO2 sensor meeting room ${room}, office ${where}`,
        `Air quality in meeting room ${room} (${where}): CO2, temperature, humidity`,
      );
      add(
        `${key}-light`,
        "dimmer",
        `Lights of meeting room ${room}, office ${where}`,
        `DALI group ${room} (meeting room, ${where})`,
      );
      add(
        `${key}-blind`,
        "blind",
        `Blinds in meeting room ${room}, office ${where}`,
        `Sun blind, ${room}, ${where}`,
      );
      add(
        `${key}-pir`,
        "occupancy",
        `Occupancy of meeting room ${room}, office ${where}`,
        `Presence radar in ${room}: is the meeting room taken`,
      );
      add(
        `${key}-panel`,
        "display",
        `Door panel of meeting room ${room}: bookings, free or busy`,
        `Room booking display at ${room}, ${where}`,
      );
      add(
        `${key}-trv`,
        "thermostat",
        `Heating of meeting room ${room}, office ${where}`,
        `Radiator valve meeting room ${room}`,
      );
    }
    for (const zone of ["A", "B", "C", "D"]) {
      for (let n = 1; n <= 4; n += 1)
        add(
          `HQ_F${floor}_Zone${zone}_Light_${two(n)}`,
          "dimmer",
          `Ceiling light ${n}, open-plan office zone ${zone}, ${where}`,
          `LED panel ${n} zone ${zone} ${where} (DALI)`,
        );
      add(`HQ_F${floor}_Zone${zone}_Air`, "co2", `Air sensor open-plan office zone ${zone}, ${where}`);
      add(`HQ_F${floor}_Zone${zone}_Blinds`, "blind", `Outside blinds of zone ${zone}, office ${where}`);
      for (let n = 1; n <= 4; n += 1)
        add(
          `desk-${floor}${zone.toLowerCase()}${n}`,
          "occupancy",
          `Desk sensor ${floor}${zone}${n}: free or taken, office ${where}`,
          `Under-desk presence sensor, desk ${floor}${zone}${n}`,
        );
    }
    add(`hq-printer-${floor}`, "printer", `HP Color LaserJet in the copy corner, office ${where}`);
    add(`hq-coffee-${floor}`, "coffee", `Coffee machine of the kitchenette, office ${where}`);
    add(`hq-fridge-${floor}`, "fridge", `Fridge of the kitchenette, office ${where}`);
    add(`hq-dishwasher-${floor}`, "appliance", `Dishwasher of the kitchenette, office ${where}`);
    for (const [side, name] of [
      ["n", "north"],
      ["s", "south"],
    ] as const) {
      add(`hq-ap-${floor}${side}`, "access_point", `Wi-Fi access point office ${where}, ${name} side`);
      add(`hq-smoke-${floor}${side}`, "smoke", `Smoke detector corridor ${name}, office ${where}`);
      add(`hq-wc-${floor}${side}`, "leak", `Leak sensor in the restrooms ${name}, office ${where}`);
    }
    add(`hq-ahu-${floor}`, "fan", `Ventilation unit of the office, ${where}: supply air, filter`);
  });
  add("hq-entrance-reader", "reader", "Badge reader at the main entrance of the office");
  add("hq-backdoor-reader", "reader", "Badge reader at the office's back door (deliveries)");
  add("hq-serverroom-reader", "reader", "Badge reader of the office's server room");
  add("hq-archive-reader", "reader", "Badge reader of the archive, office basement");
  add("hq-serverroom-climate", "climate", "Temperature and humidity of the office's server room, rack inlet");
  add("hq-serverroom-ac", "fan", "Air conditioning of the office's server room");
  add("hq-serverroom-ups", "ups", "Eaton UPS in the office's server room, 6 kVA");
  add("hq-serverroom-leak", "leak", "Leak cable under the raised floor, office server room");
  add("hq-lift", "machine", "Lift (elevator) of the office building: floor, door, faults");
  add("hq-reception-cam", "camera", "Camera at the office's reception");
  add("hq-garage-gate", "gate", "Barrier of the office's underground car park");
  add("hq-garage-cam", "camera", "Camera in the office's underground car park");
  add("hq-garage-co", "gas", "CO warning system of the office's underground car park");
  add("hq-alarm", "alarm", "Intruder alarm of the office");
  add("hq-signage", "display", "Big screen in the office's reception: welcomes visitors");
  add("hq-heating", "boiler", "District heating station of the office building");
  add("hq-meter", "meter", "Electricity meter of the office building");
  add("hq-pv", "inverter", "SMA inverter: photovoltaics on the office's roof, 60 kWp");
  for (let n = 1; n <= 40; n += 1)
    add(
      `parking-${two(n)}`,
      "occupancy",
      `Parking space ${n}, office car park: free or taken`,
      `Parking sensor bay ${n} (office)`,
    );
  for (let n = 1; n <= 6; n += 1)
    add(`hq-ev-${n}`, "wallbox", `EV charging point ${n}, office car park, 22 kW`);
  for (const [name, line] of [
    ["srv-esx1", "VMware host 1, office server room"],
    ["srv-esx2", "VMware host 2, office server room"],
    ["srv-mail", "Mail server (Postfix, Dovecot): queue and spam filter"],
    ["srv-git", "GitLab server: repositories, pipelines, runners"],
    ["srv-erp", "ERP database server (PostgreSQL): orders and invoices"],
    ["srv-web", "Web server of the company's site (nginx)"],
    ["srv-file", "File server of the office: departments' shares"],
    ["srv-backup", "Veeam backup server of the company, tape library"],
    ["srv-monitor", "Zabbix: monitoring of servers and network"],
    ["srv-dc1", "Domain controller, DNS and DHCP of the office"],
    ["srv-phone", "Telephone system (Asterisk), voicemail and extensions"],
    ["srv-build", "Build server with GPU for the machine learning team"],
  ] as const)
    add(name, "server", line);
  add("hq-nas", "nas", "QNAP NAS of the office, marketing's videos");
  add("hq-firewall", "router", "Firewall and internet line of the office (OPNsense)");

  // The factory.
  let hall = 0;
  for (const [key, line, count] of MACHINES)
    for (let n = 1; n <= count; n += 1) {
      hall = (hall % 3) + 1;
      add(
        `${key}-${two(n)}`,
        "machine",
        `${line} no. ${n}, hall ${hall}`,
        `${line} #${n} (factory hall ${hall})`,
      );
      add(
        `${key}-${two(n)}-vib`,
        "vibration",
        `Spindle vibration of ${line.split(" ").slice(-2).join(" ")} no. ${n}, hall ${hall}`,
        `Vibration sensor on the ${line.toLowerCase()} ${n}`,
      );
      add(`em-${key}-${two(n)}`, "meter", `Energy meter of ${line} no. ${n}`, `Power meter: ${line} ${n}`);
    }
  for (let n = 1; n <= 8; n += 1) {
    add(
      `conv-${n}`,
      "conveyor",
      `Conveyor belt ${n}, hall ${(n % 3) + 1}, assembly`,
      `Belt conveyor ${n} between hall ${(n % 3) + 1} and packaging`,
    );
    add(`andon-${n}`, "andon", `Signal tower of assembly line ${n}`, `Andon light, line ${n}`);
    add(`dock-door-${n}`, "gate", `Loading dock door ${n}, shipping`, `Sectional door of truck dock ${n}`);
    add(`stapler-${two(n)}`, "tracker", `Forklift ${n} (Stapler), Linde electric: position and battery`);
    add(
      `fab-cam-${n}`,
      "camera",
      `Camera factory hall ${(n % 3) + 1}, aisle ${n}`,
      `CCTV ${n}, hall ${(n % 3) + 1}`,
    );
    add(`fab-klima-${n}`, "climate", `Climate sensor hall ${(n % 3) + 1}, column ${n}`);
  }
  for (let n = 1; n <= 3; n += 1) {
    add(`kaeser-${n}`, "compressor", `Kaeser screw compressor ${n}, compressed air of the factory`);
    add(`kran-${n}`, "machine", `Overhead crane ${n}, hall ${n}, 10 t`);
    add(`hall${n}-light`, "dimmer", `High-bay lights of factory hall ${n}`);
    add(`hall${n}-heater`, "boiler", `Gas radiant heaters in factory hall ${n}`);
    add(`hall${n}-absaugung`, "fan", `Fume extraction of factory hall ${n}: welding smoke, filter pressure`);
    add(`hall${n}-gas`, "gas", `Natural gas detector in factory hall ${n}`);
    add(`hall${n}-notaus`, "contact", `Emergency stop loop of factory hall ${n}`);
    add(`agv-${n}`, "tracker", `Driverless transport vehicle (AGV) ${n}: position, load, battery`);
  }
  add("coolant-tank", "tank", "Coolant (cutting fluid) tank, central, hall 1");
  add("hydraulic-tank", "tank", "Hydraulic oil tank of the presses");
  add("waste-oil", "tank", "Waste oil container behind hall 2");
  add("diesel-tank", "tank", "Diesel tank for trucks and generator, yard");
  add("genset", "ups", "Emergency diesel generator of the factory, 200 kVA");
  add("truck-scale", "scale", "Weighbridge at the factory gate, 50 t");
  add("factory-gate", "gate", "Main gate of the factory, trucks");
  add("factory-reader", "reader", "Time clock and badge reader at the factory's staff entrance");
  add("tool-crib", "lock", "Electronic locker of the tool room: gauges and drills");
  add("cmm", "instrument", "Zeiss coordinate measuring machine, quality department");
  add("sprinkler-pump", "pump", "Fire sprinkler pump, factory");
  add("shift-horn", "siren", "Horn for shift change and breaks");

  // The laboratory.
  for (let n = 1; n <= 8; n += 1) {
    add(
      `ult-${n}`,
      "freezer",
      `Ultra-low freezer ${n}, -80 °C, lab corridor`,
      `-80 freezer no. ${n} (Thermo TSX)`,
    );
    add(`hood-${n}`, "hood", `Fume hood ${n}, chemistry lab`, `Fume cupboard no. ${n}`);
    add(`lab-klima-${n}`, "climate", `Climate logger lab room L${n}`, `Temperature and humidity lab L${n}`);
  }
  for (let n = 1; n <= 5; n += 1) {
    add(
      `labfridge-${n}`,
      "freezer",
      `Lab fridge ${n}, +4 °C: reagents and antibodies`,
      `Laboratory refrigerator no. ${n}, 2 to 8 °C`,
    );
    add(`inku-${n}`, "incubator", `CO2 incubator ${n}, cell culture`, `Incubator no. ${n} for cells, 37 °C`);
    add(`scale-${n}`, "scale", `Analytical balance ${n} (Mettler XS205)`);
    add(`zentrifuge-${n}`, "instrument", `Centrifuge ${n}, Eppendorf 5810R`);
  }
  for (const [id, make, line] of [
    ["pcr-1", "instrument", "Thermocycler 1 (PCR)"],
    ["pcr-2", "instrument", "Thermocycler 2 (PCR)"],
    ["qpcr", "instrument", "Real-time PCR QuantStudio 5"],
    ["hplc-agilent", "instrument", "Agilent HPLC 1260 with autosampler, solvents and waste level"],
    ["massspec", "instrument", "Orbitrap mass spectrometer"],
    ["minion", "instrument", "Oxford Nanopore MinION sequencer: DNA runs"],
    ["autoclave-1", "appliance", "Autoclave: steriliser for glassware, lab kitchen"],
    ["autoclave-2", "appliance", "Autoclave for waste, biosafety level 2"],
    ["ln2-dewar", "tank", "Liquid nitrogen storage dewar: level, cell bank"],
    ["o2-alarm", "gas", "Oxygen depletion alarm in the nitrogen room"],
    ["h2-detektor", "gas", "Hydrogen detector in the gas cabinet, chemistry lab"],
    ["co2-supply", "tank", "CO2 bottle bank of the incubators: pressure"],
    ["milliq", "esp", "Ultra-pure water system: resistivity, tank, cartridge"],
    ["lab-shower", "contact", "Emergency shower in the chemistry lab: flow switch"],
    ["lab-door", "reader", "Badge reader of the lab's airlock"],
    ["microscope-cam", "camera", "Camera on the confocal microscope"],
    ["shaker-1", "instrument", "Orbital shaker, bacteria room, 37 °C"],
    ["glovebox", "gas", "Glove box: oxygen and moisture in ppm, argon"],
    ["solvent-cabinet", "fan", "Ventilated cabinet for solvents: exhaust flow"],
    ["mouse-room", "climate", "Animal house: temperature, humidity and light cycle of the mouse room"],
  ] as const)
    add(id, make, line);

  // The farm.
  CROPS.forEach((crop, n) => {
    for (let plot = 1; plot <= 3; plot += 1)
      add(
        `soil-${crop}-${plot}`,
        "soil",
        `Soil moisture probe ${plot}, ${crop}`,
        `LoRa soil sensor no. ${plot} in the ${crop}`,
      );
    add(
      `irri-${two(n + 1)}`,
      "valve",
      `Irrigation valve ${n + 1}: ${crop}`,
      `Solenoid valve for the ${crop}, farm`,
    );
  });
  for (let n = 1; n <= 4; n += 1) {
    add(
      `gh${n}-climate`,
      "climate",
      `Climate in greenhouse ${n}, farm`,
      `Farm greenhouse ${n}: temperature and humidity`,
    );
    add(`gh${n}-vent`, "blind", `Roof vents of greenhouse ${n}, farm`);
    add(`gh${n}-lamp`, "light", `Grow lights greenhouse ${n}, farm`);
    add(`silo-${n}`, "tank", `Grain silo ${n}: level`, `Silo no. ${n}, feed level by radar`);
    add(`trough-${n}`, "tank", `Water trough ${n}, pasture`, `Cattle trough on pasture ${n}: water level`);
    add(`fence-${n}`, "esp", `Electric fence energiser ${n}: voltage, pasture ${n}`);
  }
  for (let n = 1; n <= 30; n += 1)
    add(
      `cow-${two(n)}`,
      "tracker",
      `Cow collar ${n}: activity, rumination, position`,
      `Collar of cow no. ${n}`,
    );
  for (const [id, make, line] of [
    ["milk-tank", "fridge", "Milk cooling tank: temperature and volume, dairy"],
    ["melkroboter", "machine", "Milking robot Lely Astronaut, cowshed"],
    ["barn-cam", "camera", "Camera in the cowshed: calving pen"],
    ["barn-fan", "fan", "Ventilators of the cowshed"],
    ["barn-light", "light", "Lights of the cowshed"],
    ["stable-cam", "camera", "Horse stable camera, box of the mare"],
    ["manure-pump", "pump", "Slurry pump"],
    ["hay-temp", "temperature", "Hay probe: temperature inside the hay stack (fire danger)"],
    ["tractor-fendt", "tracker", "Fendt tractor: position, fuel, engine hours"],
    ["well-pump", "pump", "Deep well pump of the farm, pressure"],
    ["farm-weather", "weather", "Davis weather station in the fields"],
    ["farm-gate", "gate", "Gate of the farm's yard, opens by phone"],
    ["egg-belt", "conveyor", "Egg collection belt in the laying house"],
    ["layer-climate", "climate", "Laying house: temperature, humidity, ammonia"],
    ["cold-store", "freezer", "Cold store for fruit and vegetables, farm shop"],
    ["shop-till", "server", "Cash register and card terminal of the farm shop"],
    ["grain-dryer", "machine", "Grain dryer: burner, moisture, throughput"],
    ["biogas", "machine", "Biogas plant: gas production, engine power, digester temperature"],
    ["frost-alarm", "temperature", "Frost sensor in the orchard, 50 cm above the ground"],
    ["drone-dock", "machine", "Drone dock for crop inspection flights"],
  ] as const)
    add(id, make, line);

  // A house with seven flats to let.
  for (let n = 1; n <= 7; n += 1) {
    add(
      `mh-whg${n}-rauch`,
      "smoke",
      `Smoke detector flat ${n}, Lindenstrasse 12`,
      `Rauchmelder Wohnung ${n}, Lindenstr. 12`,
    );
    add(`mh-whg${n}-wasser`, "meter", `Water meter flat ${n}, Lindenstrasse 12`);
    add(`mh-whg${n}-strom`, "meter", `Electricity meter flat ${n}, Lindenstrasse 12`);
    add(`mh-whg${n}-heizung`, "meter", `Heat meter flat ${n}, Lindenstrasse 12`);
    add(`mh-whg${n}-klingel`, "doorbell", `Intercom flat ${n}, Lindenstrasse 12`);
  }
  // Single-board computers, most of them with the line that the agent makes by itself.
  for (const [id, role] of PIS)
    add(id, "pi", `${id} edge agent — ${role}`, `Raspberry Pi: ${role}. ${PI_LINE}`);
  for (const place of [
    "attic",
    "cellar",
    "office",
    "barn",
    "lab",
    "hall1",
    "hall2",
    "hall3",
    "shed",
    "garden",
    "studio",
    "van",
  ])
    for (const board of ["pi3", "pi5"])
      if (`${board}-${place}` !== "pi5-garage")
        add(
          `${board}-${place}`,
          "pi",
          `${board}-${place} sensor node — ${PI_LINE}`,
          `${board}-${place} edge agent — CPU/memory/disk stats, files, shell`,
        );

  // What nobody described.
  for (let n = 4; n <= 30; n += 1)
    add(`shelly_plug_${two(n)}`, "meter_plug", "Shelly Plug S", "Shelly Plug S Gen3", "smart plug");
  for (let n = 0; n < 24; n += 1) {
    const mac = Math.floor(random() * 0xffffff)
      .toString(16)
      .toUpperCase()
      .padStart(6, "0");
    add(
      `${one("tasmota", "ESP", "esp32", "tuya")}-${mac}`,
      one("esp", "plug", "light") as Make,
      "ESP device",
      "Tasmota",
      "sonoff basic",
      "generic relay",
    );
  }
  return rows;
}
