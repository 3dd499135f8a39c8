/**
 * Words that people use for readings, states and kinds of devices in ten languages: English, German, French, Spanish, Italian, Dutch, Polish,
 * Portuguese, Chinese, Japanese. The words of states and classes follow Home Assistant's sentences (package `home-assistant-intents`
 * 2026.10.27, Apache-2.0; github.com/OHF-Voice/intents, CC BY 4.0), the others are our own.
 */
import type { SearchWords } from "./search-words.ts";

const CLASSES = `
temperature [°C °F]: temperature temp warmth degrees celsius temperatur wärme grad température degrés temperatura calor grados gradi temperatuur warmte graden ciepło stopni graus 温度 溫度 气温 氣溫 気温 室温
colourtemp [K mired]: farbtemperatur kleurtemperatuur 色温
targettemp []: solltemperatur zieltemperatur richttemperatuur
humidity []: humidity feuchtigkeit feuchte luftfeuchte luftfeuchtigkeit humidité hygrométrie humedad umidità vochtigheid luchtvochtigheid wilgotność umidade humidade 湿度 濕度
soilmoisture []: bodenfeuchte bodenfeuchtigkeit
battery []: battery batterie batterien akku akkustand pile piles batería pila pilas batteria batterij batterijen accu bateria baterie 电池 电量 電池 電量 バッテリー
illuminance [lx lm]: illuminance lux illumination helligkeit beleuchtungsstärke éclairement luminosité iluminancia luminosidad illuminamento luminosità lichtsterkte helderheid natężenie jasność iluminância luminosidade 照度 光照 亮度 明るさ
brightness []: brightness helligkeit luminosité brillo luminosidad luminosità helderheid jasność brilho luminosidade 亮度 明るさ
power [W kW mW MW VA]: power watt watts wattage leistung strom stromverbrauch puissance potencia potenza vermogen moc potência 功率 电力 電力 瓦
energy [kWh Wh MWh J MJ]: energy consumption kwh energie verbrauch stromverbrauch énergie consommation energía consumo energia verbruik zużycie 能量 能耗 用电 电能 耗电 エネルギー 消費
voltage [V mV kV]: voltage volt spannung tension tensión voltaje tensione spanning napięcie tensão voltagem 电压 電壓 電圧
current [A mA]: current ampere strom stromstärke courant intensité corriente corrente stroom prąd corrente 电流 電流
pressure [hPa mbar bar Pa kPa psi mmHg]: pressure druck luftdruck pression presión pressione druk luchtdruk ciśnienie pressão 气压 压力 氣壓 気圧 圧力
carbon_dioxide []: co2 kohlendioxid kohlenstoffdioxid carbonique carbónico carbonica kooldioxide dwutlenek 二氧化碳 二酸化炭素
carbon_monoxide []: co monoxide kohlenmonoxid monoxyde monóxido monossido koolmonoxide czad tlenek 一氧化碳 一酸化炭素
pm25 []: pm25 feinstaub particules partículas particolato fijnstof pył 颗粒物
volatile_organic_compounds []: voc tvoc
aqi []: aqi luftqualität 空气质量
signal_strength [dBm dB lqi]: signal rssi linkquality lqi empfang señal segnale signaal sygnał sinal 信号 電波
wind_speed []: wind windgeschwindigkeit vent viento vento wiatr 风速 風速
speed [km/h m/s mph kn]: speed geschwindigkeit drehzahl vitesse velocidad velocità snelheid prędkość velocidade 速度
position []: position stellung posición posizione positie pozycja posição 位置
distance [km m cm mm mi]: distance entfernung abstand distancia distanza afstand odległość distância 距离 距離
weight [kg g lb]: weight gewicht poids peso waga 重量 体重
volume [L m³ mL gal]: volume volumen volumen objętość 体积
gas []: gas gaz gás 燃气 煤气 ガス
precipitation [mm/h]: rain precipitation regen niederschlag pluie lluvia pioggia deszcz chuva neerslag 降水 雨量
frequency [Hz kHz MHz GHz]: frequency frequenz fréquence frecuencia frequenza frequentie częstotliwość frequência 频率 周波数
duration [s min h d ms]: duration dauer durée duración durata duur 时长
moisture []: moisture leak water feuchtigkeit leck wasser wassermelder fuite eau fuga agua perdita acqua lek lekkage water wyciek zalanie woda vazamento água 漏水 水浸 水漏れ
smoke []: smoke rauch rauchmelder fumée humo fumo rook dym fumaça 烟雾 煙霧 煙
motion []: motion movement bewegung bewegungsmelder mouvement movimiento movimento beweging ruch 移动 移動 运动 動き 人感
occupancy []: occupancy presence anwesenheit präsenz présence presencia presenza aanwezigheid obecność presença 人体 存在 在室
vibration []: vibration erschütterung vibración vibrazione trilling wibracje vibração 振动 振動
tamper []: tamper tampering sabotage manipulation manipulación manomissione sabotaż 防拆
window []: window contact kontakt fenster fensterkontakt fenêtre fenêtres ventana finestra raam ramen okno okna okien janela 窗户 窗戶 窗 窓
door []: door contact kontakt tür türen haustür türkontakt porte puerta porta deur drzwi 门 門 ドア 扉
garage_door []: garagentor garagentür
light []: light lights lamp lamps licht lichter lampe lampen leuchte lumière lumières lampes luz luces lámpara luce luci lampada lamp verlichting światło światła lampa lampy luzes lâmpada 灯 燈 照明 ライト ランプ 電気
lock []: lock schloss türschloss serrure verrou cerradura serratura slot zamek fechadura 门锁 門鎖 锁 鎖 鍵
switch []: switch schalter interrupteur interruptor interruttore schakelaar przełącznik 开关 開關 スイッチ
outlet []: socket plug outlet steckdose prise enchufe presa stopcontact gniazdko tomada 插座 コンセント
cover []: cover blind blinds shutter curtain rollladen rollo jalousie vorhang volet store rideau persiana cortina tapparella tenda rolluik gordijn roleta rolety żaluzja zasłona estore 窗帘 卷帘 カーテン ブラインド
fan []: fan lüfter ventilator ventilateur ventilador ventilatore wentylator 风扇 扇風機
climate []: thermostat heizung klimaanlage chauffage thermostat termostato thermostaat termostat 空调 空調 エアコン
connectivity []: connectivity verbindung connexion conexión connessione verbinding połączenie 连接
update []: update aktualisierung mise actualización aggiornamento aktualizacja 更新
`;

const STATES = `
open: opened ajar offen offene offenes offener offenen geöffnet geöffnete gekippt auf ouvert ouverte ouverts ouvertes abierto abierta abiertos abiertas aperto aperta aperti aperte geopend otwarte otwarty otwarta otwartych otwórz aberto aberta abertos abertas 打开 打開 开着 開着 开启 敞开 开了 开 開いて 開 空いて
closed: shut geschlossen geschlossene zu fermé fermée fermés fermées clos close cerrado cerrada cerrados cerradas chiuso chiusa chiusi chiuse gesloten dicht zamknięte zamknięty zamknięta fechado fechada fechados fechadas 关闭 關閉 关着 关上 关了 关 閉まって 閉じて 閉
on: an ein eingeschaltet eingeschaltete angeschaltet allumé allumée allumés allumées activé encendido encendida encendidos encendidas acceso accesa accesi accese aan włączony włączona włączone włączonych ligado ligada ligados ligadas aceso acesa 打开 打開 开着 開着 开启 开了 开 ついて 点いて オン
off: aus ausgeschaltet ausgeschaltete abgeschaltet éteint éteinte éteints éteintes apagado apagada apagados apagadas spento spenta spenti spente uit wyłączony wyłączona wyłączone desligado desligada desligados 关闭 關閉 关着 关了 关 消えて 切れて オフ
low: empty weak leer leere schwach schwache niedrig faible faibles basse bas vide baja bajo descargada scarica scarico bassa leeg laag zwak słaba słabe niska niski rozładowana rozładowane baixa fraca 低电量 电量低 低 不足 少ない
normal: ok fine normaal normalny 正常 正常
wet: damp nass nasse feucht mouillé mouillée humide mojado mojada bagnato bagnata nat natte mokro mokry mokre mokra wilgotno molhado molhada 潮湿 湿 漏水 濡れて
dry: trocken trockene sec sèche seco seca asciutto droog sucho suchy suche 干燥 乾燥
detected: triggered erkannt ausgelöst entdeckt détecté détectée détectés déclenché detectado detectada rilevato rilevata rilevati gedetecteerd wykryto wykryty wykryte detetado 检测 檢測 触发 偵測 検知 検出
clear: keine keiner aucun aucune ninguno nessuno geen brak nenhum 无人 沒有 没有 なし
occupied: belegt besetzt anwesend occupé occupée présent ocupado ocupada occupato occupata bezet zajęte zajęty aanwezig obecny 有人 占用 在席
locked: verriegelt abgeschlossen zugesperrt verschlossen verrouillé verrouillée verrouillés verrouillées bloqueado bloqueada bloccato bloccata vergrendeld zablokowane zablokowany zablokowana zaryglowane trancado trancada 上锁 锁着 锁定 锁上 已锁 鎖 施錠
unlocked: entriegelt aufgeschlossen aufgesperrt unverschlossen déverrouillé déverrouillée déverrouillées desbloqueado desbloqueada sbloccato sbloccata ontgrendeld odblokowane odblokowany odblokowana destrancado destrancada 解锁 未锁 没锁 開錠 解錠
home: zuhause daheim maison casa thuis domu 在家 在宅
away: abwesend weg absent absente fuera via afwezig poza nieobecny fora 外出 离家 留守
problem: störung fehler panne défaut problème problema storing awaria erro 故障 问题 異常
charging: lädt laden charge cargando ricarica opladen ładowanie ładuje carregando 充电 充電
connected: verbunden connecté connectée conectado conectada connesso verbonden połączony podłączony 已连接 接続
disconnected: getrennt déconnecté desconectado disconnesso losgekoppeld rozłączony odłączony 断开 切断
moving: bewegt bouge moviendo muove beweegt rusza 移动 動いて
running: läuft marche funcionando funzione draait działa pracuje 运行 動作
heating: heizt chauffe calentando riscalda verwarmt grzeje aquecendo 加热 制热 暖房
cooling: kühlt refroidit enfriando raffredda koelt chłodzi 制冷 冷房
hot: heiß chaud chaude caliente caldo heet gorąco 热
cold: kalt froid froide frío freddo koud zimno 冷
unsafe: unsicher
idle: leerlauf 空闲
`;

/** General on purpose: rooms, kinds of devices, what they measure, in English with the commonest German and French words of ids. */
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

/** "turn" and "switch" are among them: they fit whatever can be switched, and would favour the devices that happen to call it that. */
const STOP = `a about after again all already also am an and any anything are as at away be been before but by can come could did do does doing done down don
  for from get give go going got had has have he her here him his how i if in into is isn it its just left let like long
  make many may me mine more most much my near need new no not nothing now of off ok on once one or our out over please put read really s
  say set she so some something still switch t take tell than thank thanks that the their them then there these they thing this those to
  today tomorrow tonight too turn up us very want was we well were what when which while who whose why will with would yes
  yesterday yet you your aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn bitte das dem den der des die ein eine einem einen einer im ist mach mal mir und von wie wo zu
  alle alles auf aus bei etwas gerade noch steht stehen gibt hat ich ihr im ins irgendwo mehr nicht sich sie sind sowie vom was welche welcher welches welchem wer werden wird
  alors au aux avec ce cela ces cette dans de des du en entre est et il ils elles je la le les ma mes mon ou par pour quel quelle quelles quels que qui qu se sont sur tous tout toute toutes un une y
  ale byc czy czyli cos dla do gdzie ile i ja jak jaka jakie jaki jest ktora ktore ktory mi moj moja moje na nad nie o od po prosze przy sa sie ten ta te to tu u w we wszystkie wszystko wszystkich z za ze
  al como con cual cuales del donde el en es esta estan hay la las los mi para por que se son su todo todos un una y
  che come con cosa dei del della delle dove e gli ho il in la lo nel nella per quale quali sono su tutti tutto un una
  alle alles dat de een en er het hoe ik in is met mijn naar op wat welke zijn
  ao as com da das do dos em na no nos o onde os para qual quais que tem todos tudo um uma`;

export const SEARCH_WORDS: SearchWords = { classes: CLASSES, states: STATES, groups: GROUPS, stop: STOP };
