/**
 * Words that mean much the same where devices are concerned: what people say, and what stands in ids and lines. The list is
 * general on purpose: rooms, kinds of devices, what they measure, in English with the commonest German and French words of ids.
 */
import { stem } from "./words.ts";

/** One group a line. The words of a group stand for each other; a word may be in several groups. */
const GROUPS = `
light lamp bulb lighting dark led licht lampe leuchte lumiere eclairage
warm hot cold cool chilly degrees temperature temp climate thermometer klima temperatur
heating heater radiator thermostat heat heizung chauffage warm
humid humidity damp dry moisture moist feuchte humidite
air co2 stuffy airquality luft
ventilation ventilator fan extractor lueftung luefter absaugung
aircon ac cooling climatisation clim klimaanlage
tv television telly fernseher
vacuum hoover cleaner robot
shutter blind roller curtain shade rollo volet jalousie
lock schloss serrure locked
door tuer porte
window fenster fenetre
laundry washing washer waschmaschine wash
dryer tumble trockner
dishwasher spueler dishes
sofa couch settee
fridge refrigerator kuehlschrank
freezer gefriertruhe frozen
car vehicle ev auto
charger wallbox charging charge plugged
solar pv photovoltaic panels
electricity power energy watts strom electrique
meter counter zaehler compteur usage consumption used use
leak wet flood flooded leck fuite dripping
smoke fire rauch burning
alarm burglar intruder
camera cam cctv picture photo video see look show watch kamera snapshot
bell doorbell klingel rang ring intercom
music speaker song radio sound loud playing volume
printer print printing toner paper
disk drive storage space harddisk hdd ssd volumes
backup sicherung
internet wifi wlan wireless wi
router gateway firewall
server host machine computer pc
nas files shares
toilet wc restroom loo lavatory
bathroom bath bad shower
cellar basement keller
upstairs upper og
downstairs ground eg
attic loft
hallway hall corridor flur landing
study arbeitszimmer
bedroom sz schlafzimmer chambre
living lounge wz wohnzimmer salon
kitchen kueche cuisine
nursery baby babyzimmer
kid child children kids
guest gast gaestezimmer
garden yard garten lawn jardin
lawn grass mower mowing mow
watering irrigation sprinkler water bewaesserung irrigate
cistern tank zisterne
pool swimming
mailbox letterbox post mail letter postman briefkasten
gate barrier tor
garage garagentor
lift elevator
generator genset
occupied taken free busy occupancy presence available empty anyone anybody someone somebody
grandma granny grandmother nan oma
weather rain wind outside outdoor wetter meteo
level full fill empty
weight weigh heavy scale balance kg
stove oven cooker hob herd backofen
coffee espresso cappuccino
battery charge akku batterie
position location where gps tracker
fault error broken problem
desk table schreibtisch
terrace patio terrasse
socket plug outlet
dog puppy
cat kitten
hen chicken huhn poultry
bee hive colony
cow cattle calf cowshed
horse stable mare
forklift stapler
pressure bar
sea meer mer
screen monitor display
book booking reservation
badge card reader access enter entered came entry
brightness bright dim
noise noisy
boil boiling kettle tea
water wasser eau
hot chaud chaude heiss
far range reach distance
grid export import mains
haustuer frontdoor housedoor
carpark parking park
hottub whirlpool spa jacuzzi
plane aircraft adsb flight
apartment flat appartement appart wohnung whg unit
motion movement moving move walking walk pir bewegung
awning markise sunshade shade
home house
pipe water tap faucet plumbing
print printer document paper page
website site homepage web www
feed food portion fodder
`;

/** Stem → the stems of the words that mean much the same. */
export const SYNONYMS: ReadonlyMap<string, ReadonlySet<string>> = (() => {
  const found = new Map<string, Set<string>>();
  for (const group of GROUPS.trim().split("\n")) {
    const words = group.split(" ").map(stem);
    for (const word of words) {
      const others = found.get(word) ?? new Set();
      for (const other of words) if (other !== word) others.add(other);
      found.set(word, others);
    }
  }
  return found;
})();
