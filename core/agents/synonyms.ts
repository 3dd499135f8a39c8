/**
 * Words that mean much the same where devices are concerned: what people say, and what stands in ids and lines. The list is
 * general on purpose: rooms, kinds of devices, what they measure, in English with the commonest German and French words of ids.
 */
import { lazy } from "../text/lazy.ts";
import { classGroups } from "./reading-terms.ts";
import { fold, stem } from "./words.ts";

/** One group a line. The words of a group stand for each other; a word may be in several groups. */
const GROUPS = `
light lamp bulb lighting dark lit shine glow led licht lampe leuchte lumiere eclairage plafonnier ampoule bombilla lampadina żarówka 灯
warm hot cold cool chilly freezing warmth degrees temperature temp climate thermometer klima temperatur
heating heater radiator thermostat heat preheat heizung chauffage warm
humid humidity damp dry moisture moist feuchte humidite
air co2 stuffy ventilate quality luft
ventilation ventilator fan extractor extraction lueftung luefter absaugung
aircon ac cooling climatisation clim klimaanlage
tv television telly fernseher télévision télé televisor televisore televisie telewizor televisão 电视 テレ
watch film movie cinema video channel tv
vacuum hoover cleaner clean sweep mop robot
shutter blind roller curtain shade rollo volet jalousie
awning markise sunshade shade
lock unlock schloss serrure locked key
door tuer porte
window fenster fenetre
open shut closed close ajar
laundry washing washer waschmaschine wash lave lavadora lavatrice wasmachine pralka 洗衣 洗濯
dryer tumble drier dry trockner
dishwasher spueler dishes plates
oven bake roast grill backofen
stove cooker hob herd cook
fireplace chimney flue stove kamin
boil boiling kettle tea
coffee espresso cappuccino
fridge refrigerator kuehlschrank frigo réfrigérateur frigorífico nevera frigorifero koelkast lodówka lodówki geladeira 冰箱 冷蔵
freezer gefriertruhe frozen freeze congélateur congelador congelatore vriezer zamrażarka 冰柜 冷冻
sofa couch settee
car vehicle ev auto
truck lorry
fuel petrol diesel
charger wallbox charging charge plugged
carpark parking park
battery charge akku batterie
solar pv photovoltaic panels sun sunshine
electricity power energy watts strom electrique
grid export import mains
outage blackout ups
meter counter zaehler compteur usage consumption used use
leak wet flood flooded leck fuite dripping drip burst
pipe water tap faucet plumbing
water wasser eau
hot chaud chaude heiss
smoke fire rauch burning burn
gas monoxide fumes exhaust
alarm burglar intruder arm disarm security
camera cam cctv picture photo video footage recording see look show watch view kamera snapshot
bell doorbell klingel rang ring intercom chime
music speaker song radio sound loud playing play volume listen
print printing printer document paper page drucker imprimante impresora stampante drukarka 打印
disk drive storage space harddisk hdd ssd volumes
backup sicherung
internet wifi wlan wireless wi online offline connection
router gateway firewall
server host machine computer pc
pi raspberry rpi
nas files shares
website site homepage web www
email mail smtp
phone telephone call
restart reboot
vm vmware virtual hypervisor
git gitlab repository code
toilet wc restroom loo lavatory toilette toaleta toilettes
bathroom bath bad badezimmer shower salle bain baño bagno badkamer łazienka łazienki łazience banheiro 浴室 卫生 洗手
toilet wc 卫生 洗手 厕所
cellar basement keller cave sótano cantina kelder piwnica piwnicy adega 地下
upstairs upper og
downstairs ground eg
attic loft dachboden grenier ático desván soffitta zolder strych 阁楼
hallway hall corridor flur landing diele couloir pasillo corridoio gang korytarz przedpokój corredor 走廊 过道 玄关 廊下
study arbeitszimmer office 书房
office buero bureau work company oficina ufficio kantoor biuro gabinet escritório
bedroom sz schlafzimmer chambre bed dormitorio slaapkamer sypialnia sypialni quarto 卧室 睡房 寝室
living lounge wz wohnzimmer salon salón soggiorno woonkamer sala 客厅 居間 リビ
kitchen kueche cuisine cocina cucina keuken kuchnia kuchni cozinha 厨房 台所 キッ
nursery baby babyzimmer kinderzimmer
kid child children kids kinderzimmer enfant dziecięcy dziecięcym dzieci niños bambini 儿童 子供
parents parent
guest gast gaestezimmer gaestebad gäste visitor visitors invité invités gości gość ospiti gasten 客用 客房
garden yard garten lawn jardin jardín giardino tuin ogród ogrodzie jardim 花园 院子 庭
lawn grass mower mowing mow
watering irrigation sprinkler sprinkle water bewaesserung irrigate hose thirsty
soil ground moisture
cistern tank zisterne
pool swimming swim
hottub whirlpool spa jacuzzi
mailbox letterbox postbox post mail letter postman briefkasten
gate barrier tor
garage garagentor garaje garaż garażu garagem 车库 ガレ
terrace patio terrasse terraza terrazza terras taras terraço 露台
balcony balcon balkon balcón balcone balkonie 阳台 ベラ
haustuer frontdoor housedoor
van camper motorhome caravan
apartment flat appartement appart wohnung whg unit
home house
reception lobby entrance foyer
canteen cafeteria
barn cowshed shed
lift elevator
generator genset
motion movement moving move walking walk pir bewegung mouvement ruch movimiento movimento beweging 移动 人体
occupied taken free busy occupancy presence available empty anyone anybody someone somebody 有人 人体
badge card reader access enter entered came entry
grandma granny grandmother nan oma
weather rain wind gust storm outside outdoor wetter meteo
level full fill empty left remaining enough low
weight weigh heavy fat scale balance kg
position location where gps tracker
far range reach distance
fault error broken problem stopped
jam jammed stuck blocked
vibration vibrate shaking shake bearing spindle
parts pieces made produced
sterilise steriliser sterile autoclave
desk table schreibtisch
socket plug outlet
dog puppy
cat kitten
feed food portion fodder eat
hen chicken huhn poultry
bee hive colony beehive
cow cattle calf cowshed
horse stable mare
forklift stapler
pressure bar
sea meer mer
screen monitor display panel
book booking reservation
brightness bright dim
noise noisy
plane aircraft adsb flight
`;

/** Stem → the stems of the words that mean much the same. Most homes need none. */
export const synonyms = lazy(makeSynonyms);

function makeSynonyms(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const groups = GROUPS.trim().split("\n");
  for (const words of [...groups.map((group) => fold(group).split(" ").map(stem)), ...classGroups()]) {
    for (const word of words) {
      const others = found.get(word) ?? new Set();
      for (const other of words) if (other !== word) others.add(other);
      found.set(word, others);
    }
  }
  return found;
}
