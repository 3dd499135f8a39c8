/** The names of a home in three languages, for tests. Names of devices are a publisher's, those of areas a person's. */
import type { NamedThing } from "../names.ts";

type Rooms = Readonly<Record<string, readonly string[]>>;

function home(rooms: Rooms): NamedThing[] {
  const things: NamedThing[] = [{ id: "vm", name: "vm", of: "device", own: true }];
  for (const [area, names] of Object.entries(rooms)) {
    things.push({ id: area, name: area, of: "area", own: true });
    for (const name of names) things.push({ id: `${area}/${name}`, name, of: "device", area });
  }
  return things;
}

export const EN_HOME = home({
  Kitchen: ["Kitchen light", "Counter light", "Kitchen window", "Freezer", "Fridge", "Kitchen sensor"],
  "Living room": ["Reading lamp", "Ceiling light", "TV", "Blinds", "Living room heating", "Air quality"],
  Bedroom: ["Bedroom light", "Bedroom window", "Bedroom thermometer", "Bedroom heating"],
  Bathroom: ["Bathroom light", "Bathroom fan", "Bathroom sensor"],
  Hall: ["Front door", "Door contact", "Hall light", "Hall motion"],
  Office: ["Desk lamp", "Office plug", "Office thermometer"],
  Garden: ["Gate motion", "Garden thermometer", "Garden pump"],
  Laundry: ["Washing machine", "Leak sensor", "Dryer", "Water valve"],
});

export const DE_HOME = home({
  Küche: ["Küchenlicht", "Thekenlicht", "Küchenfenster", "Gefrierschrank", "Kühlschrank"],
  Wohnzimmer: ["Leselampe", "Deckenlampe", "Fernseher", "Jalousien", "Wohnzimmerheizung"],
  Schlafzimmer: ["Schlafzimmerlicht", "Schlafzimmerfenster", "Schlafzimmerheizung"],
  Badezimmer: ["Badlicht", "Badlüfter"],
  Flur: ["Haustür", "Türkontakt", "Flurlicht"],
  Büro: ["Schreibtischlampe", "Bürosteckdose"],
  Garten: ["Gartenthermometer", "Gartenpumpe"],
  Waschküche: ["Waschmaschine", "Trockner"],
});

export const ZH_HOME = home({
  厨房: ["厨房灯", "台面灯", "厨房窗户", "冰柜", "冰箱"],
  客厅: ["阅读灯", "吸顶灯", "电视", "百叶窗", "客厅暖气"],
  卧室: ["卧室灯", "卧室窗户", "卧室温度计"],
  浴室: ["浴室灯", "浴室风扇"],
  走廊: ["前门", "门磁", "走廊灯"],
  书房: ["台灯", "书房插座"],
  花园: ["花园温度计", "花园水泵"],
  洗衣房: ["洗衣机", "烘干机"],
});

export const FR_HOME = home({
  Cuisine: [
    "Lumière de la cuisine",
    "Lampe du plan de travail",
    "Fenêtre de la cuisine",
    "Congélateur",
    "Frigo",
  ],
  Salon: ["Liseuse", "Plafonnier", "Télé", "Volets", "Chauffage du salon"],
  Chambre: ["Lumière de la chambre", "Fenêtre de la chambre", "Chauffage de la chambre"],
  "Salle de bain": ["Lumière de la salle de bain", "Ventilateur de la salle de bain"],
  Entrée: ["Porte d'entrée", "Contact de porte", "Lumière de l'entrée"],
  Bureau: ["Lampe de bureau", "Prise du bureau"],
  Jardin: ["Thermomètre du jardin", "Pompe du jardin"],
  Buanderie: ["Machine à laver", "Sèche-linge"],
});

export const ES_HOME = home({
  Cocina: ["Luz de la cocina", "Luz de la encimera", "Ventana de la cocina", "Congelador", "Nevera"],
  Salón: ["Lámpara de lectura", "Luz del techo", "Tele", "Persianas", "Calefacción del salón"],
  Dormitorio: ["Luz del dormitorio", "Ventana del dormitorio", "Calefacción del dormitorio"],
  Baño: ["Luz del baño", "Ventilador del baño"],
  Pasillo: ["Puerta principal", "Contacto de la puerta", "Luz del pasillo"],
  Despacho: ["Lámpara del escritorio", "Enchufe del despacho"],
  Jardín: ["Termómetro del jardín", "Bomba del jardín"],
  Lavadero: ["Lavadora", "Secadora"],
});

export const IT_HOME = home({
  Cucina: [
    "Luce della cucina",
    "Luce del piano di lavoro",
    "Finestra della cucina",
    "Congelatore",
    "Frigorifero",
  ],
  Soggiorno: ["Lampada da lettura", "Lampadario", "Televisore", "Tapparelle", "Riscaldamento del soggiorno"],
  Camera: ["Luce della camera", "Finestra della camera", "Riscaldamento della camera"],
  Bagno: ["Luce del bagno", "Ventola del bagno"],
  Corridoio: ["Porta d'ingresso", "Contatto della porta", "Luce del corridoio"],
  Studio: ["Lampada da scrivania", "Presa dello studio"],
  Giardino: ["Termometro del giardino", "Pompa del giardino"],
  Lavanderia: ["Lavatrice", "Asciugatrice"],
});

export const PT_HOME = home({
  Cozinha: ["Luz da cozinha", "Luz da bancada", "Janela da cozinha", "Congelador", "Frigorífico"],
  Sala: ["Candeeiro de leitura", "Luz do teto", "Televisão", "Estores", "Aquecimento da sala"],
  Quarto: ["Luz do quarto", "Janela do quarto", "Aquecimento do quarto"],
  "Casa de banho": ["Luz da casa de banho", "Ventoinha da casa de banho"],
  Corredor: ["Porta da frente", "Contacto da porta", "Luz do corredor"],
  Escritório: ["Candeeiro da secretária", "Tomada do escritório"],
  Jardim: ["Termómetro do jardim", "Bomba do jardim"],
  Lavandaria: ["Máquina de lavar", "Máquina de secar"],
});

export const NL_HOME = home({
  Keuken: ["Keukenlamp", "Aanrechtlamp", "Keukenraam", "Vriezer", "Koelkast"],
  Woonkamer: ["Leeslamp", "Plafondlamp", "Televisie", "Rolluiken", "Woonkamerverwarming"],
  Slaapkamer: ["Slaapkamerlamp", "Slaapkamerraam", "Slaapkamerverwarming"],
  Badkamer: ["Badkamerlamp", "Badkamerventilator"],
  Gang: ["Voordeur", "Deurcontact", "Ganglamp"],
  Kantoor: ["Bureaulamp", "Kantoorstekker"],
  Tuin: ["Tuinthermometer", "Tuinpomp"],
  Washok: ["Wasmachine", "Droger"],
});

export const PL_HOME = home({
  Kuchnia: ["Światło w kuchni", "Lampka nad blatem", "Okno w kuchni", "Zamrażarka", "Lodówka"],
  Salon: ["Lampa do czytania", "Lampa sufitowa", "Telewizor", "Żaluzje", "Ogrzewanie w salonie"],
  Sypialnia: ["Światło w sypialni", "Okno w sypialni", "Ogrzewanie w sypialni"],
  Łazienka: ["Światło w łazience", "Wentylator w łazience"],
  Przedpokój: ["Drzwi wejściowe", "Czujnik drzwi", "Światło w przedpokoju"],
  Biuro: ["Lampka biurkowa", "Gniazdko w biurze"],
  Ogród: ["Termometr w ogrodzie", "Pompa"],
  Pralnia: ["Pralka", "Suszarka"],
});

export const CS_HOME = home({
  Kuchyň: ["Světlo v kuchyni", "Lampička nad linkou", "Okno v kuchyni", "Mrazák", "Lednice"],
  Obývák: ["Lampa na čtení", "Stropní lampa", "Televize", "Žaluzie", "Topení v obýváku"],
  Ložnice: ["Světlo v ložnici", "Okno v ložnici", "Topení v ložnici"],
  Koupelna: ["Světlo v koupelně", "Ventilátor v koupelně"],
  Chodba: ["Vchodové dveře", "Čidlo dveří", "Světlo v chodbě"],
  Pracovna: ["Stolní lampa", "Zásuvka v pracovně"],
  Zahrada: ["Teploměr na zahradě", "Čerpadlo"],
  Prádelna: ["Pračka", "Sušička"],
});
