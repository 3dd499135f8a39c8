/**
 * What people call the work of a device, in ten languages, with the English words that descriptions of tools have for it. General
 * on purpose: words for topics, not for single tools, so tools of skills and MCP servers are found by them too. Pure.
 */
import { lazy } from "../text/lazy.ts";
import { fold, wordsOf } from "./words.ts";

/**
 * One topic a line: English words of descriptions, then what is said for it. A word stands for all its forms: from 4 letters on it
 * may be the beginning of another, from 6 on any part of it. "reading" stands for "read", which the index leaves out of questions.
 */
const TOPICS = `
temperature hot warm: temperature warm warmth heat overheat cold cool degrees celsius thermometer temperatur heiss waerme hitze kalt grad fuehler ueberhitz température chaud chauff froid degré sonde temperatura calor calient frío grados caldo freddo gradi surriscald temperatuur heet koud graden oververhit quente quent graus ciepł gorąc zimn stopni varm kall scotta bollente brûlant ardiente 温度 多少度 几度 何度 热 熱 冷 暑い 寒い
cpu processor busy load: cpu processor load busy slow sluggish overload prozessor ausgelastet auslastung rechenlast langsam überlast processeur charge lent ralenti procesador carga lento lenta sobrecarg processore carico rallent belast traag procesor obciąż wolno sakt 处理器 负载 慢 負荷 遅い 重い
processes programs running busiest: process processes program programs task-manager slow hog prozess programm langsam bremst processus programme ralenti proceso programa processo programmi programma rallent procesy proces 进程 程序 プロセス プログラム
memory ram: ram memory swap arbeitsspeicher hauptspeicher speicher auslager mémoire swapp memoria geheugen memória pamięć pamięci 内存 メモリ
disk storage space full free: disk drive storage capacity sd ssd hdd full room space gigabyte gb terabyte festplatte platte speicherplatz platz speicher voll karte partition disque espace place plein stockage carte disco espacio lleno almacenamiento spazio pieno archiviazione schijf ruimte vol espaço cheio armazenamento dysk miejsca pełn lagring utrymme 磁盘 硬盘 空间 存储 ディスク 容量 空き
device hardware operating system uptime power: model hardware linux kernel uptime reboot restart restarted gestartet boot booted hostname operating version throttled undervoltage raspberry betriebssystem modell netzteil spannung drossel neustart eingeschaltet rechnername système modèle matériel alimentation démarr allumé version sistema operativo modelo alimentac encendid arranc modello alimentazione acceso riavvi besturingssysteem voeding aangezet opstart alimentação ligado zasilan uruchomion jądro 系统 型号 硬件 システム 機種 起動 電源
update agent version: update upgrade newest latest aktualisier neueste upgrad mettre jour actualiz última aggiorn bijwerk nieuwste atualiz zaktualiz uppdater 更新 升级 アップデート
network interfaces addresses wi-fi: network ip ipv6 address wifi wi wlan ethernet lan signal mac bandwidth netzwerk netz adresse verbunden empfang réseau connecté débit red dirección conectad rete indirizzo connesso netwerk adres verbonden rede endereço sieć sieci nätverk 网络 地址 信号 ネットワーク アドレス 電波
ping host answers: ping reach reachable unreachable alive latency respond answer router printer nas erreich antwortet drucker latenz répond joindre joign imprimante routeur responde alcanz impresora enrutador raggiung risponde stampante bereik antwoord printer impressora odpowiada osiągal drukark svarar 到达 响应 路由 応答 届く ルーター
services systemd run failed: restart restarted gestartet redémarr reinici riavvi herstart reinicie running runs läuft laufen tourne funciona corre gira funziona draait działa service daemon systemd unit failed crashed dienst dienste ausgefallen hängt servicio caíd servizio servizi serviço usług tjänst 服务 守护 サービス 停止
system log journal entries: log logs logged journal journald syslog error errors warning crash protokoll fehler absturz abgestürzt warnung meldung logbuch erreur avertiss plant journaux registro errores fallo avería registri errori guasto logboek fout melding storing erro falha dziennik błęd awari logg 日志 错误 崩溃 ログ エラー 記録
gpio pins: pin pins gpio header broche pines piedino pinos piny pinów 引脚 针脚 ピン
gpio set high low switch relay: relay led pump valve fan siren buzzer relais lampe pumpe ventil lüfter schalte einschalt ausschalt anmachen ausmachen allume éteins éteindre allumer pompe relé rele enciende apaga bomba encender apagar accendi spegni pompa relè aanzetten uitzetten zet pomp ligar desligar włącz wyłącz pompę przekaźnik slå tänd släck 继电器 打开 关闭 リレー つけて 消して オン オフ
i2c bus connected chips: i2c bus chip chips adc sensors angeschlossen baustein capteur branché conectados collegat aangesloten ligados podłączon 总线 传感器 バス センサー 接続
picture camera photo: photo picture camera snapshot photograph webcam foto bild kamera aufnahme knips fotografi photo caméra image cliché imagen cámara immagine fotocamera scatta afbeelding imagem câmera zdjęcie zdjęć aparat obraz kamery bild 照片 拍照 相机 图片 写真 撮 カメラ 画像
picture vision shows: describe seen visible recognise jpg jpeg png webp sehen erkennst beschreib décri voit reconnai descri ves reconoce vedi riconosci zie herken vê widać opisz rozpozna 描述 看到 説明して 写って
text file reading: file files content contents read open document inhalt datei dateien lies vorlesen lesen dokument fichier contenu lis lire document archivo contenido lee leer fichero file contenuto leggi bestand inhoud lees ficheiro arquivo conteúdo leia plik pliku plików zawartoś przeczytaj fil filen läs 文件 内容 读 ファイル 読 中身
list folder: folder directory folders ordner verzeichnis dossier répertoire carpeta directorio cartella directory map mappen pasta diretório folder katalog mapp 目录 文件夹 フォルダ
find files name: find search locate suche suchen finde finden gesucht wo cherche chercher trouve trouver recherche busca buscar encuentra encontrar cerca trova trovare zoek vind procure encontre znajdź szukaj sök hitta 查找 搜索 找 検索 探
search text files regular expression: word occurs mention contains pattern regex wort erwähnt vorkomm kommt enthalt suche durchsuch mot mentionn contient contien cherche palabra contiene mencion busca parola menziona contengono woord vermeld bevat palavra contém słowo zawier szukaj wzorzec ord 单词 包含 関键 単語 含む
write text file makes: write save store create note speichere speichern schreib anlegen lege erstell notiere écri enregistr sauvegard crée créer note escribe guarda crea apunta scrivi salva annota schrijf bewaar opslaan maak escreva guarde salve crie napisz zapisz utwórz skriv spara skapa 写 保存 创建 書 作成
append text end file: append add line end bottom anhäng hinzufüg ergänz zeile ende füge ajoute ligne fin añad agrega línea final aggiungi riga fine toevoeg regel einde adiciona acrescent linha dopisz dodaj linię koniec rad 追加 添加 末尾
edit replace text file: change replace edit modify rename correct fix delete remove lösche löschen entfern streich supprim efface borra elimina cancella rimuovi verwijder apague exclua usuń skasuj 删除 削除 ändere änder ersetze ersetz korrigier berichtig umbenenn modifie remplac change corrige renomm cambia reemplaz sustitu modific sostitu correggi wijzig vervang verander altere substitu mude zmień zastąp popraw ändra ersätt 修改 替换 改 変更 置換 直
patch files change: patch patchen patche apply diff correctif parche łatk 补丁 パッチ
run shell command: delete remove lösche löschen entfern supprim efface borra elimina cancella rimuovi verwijder apague usuń 删除 削除 run execute command shell terminal script bash compile build install make sudo python npm befehl ausführ führe skript kompilier bau installier commande exécut lance script compile comando ejecuta ejecutar compila instala esegui avvia compilare opdracht voer uitvoer polecenie wykonaj uruchom skrypt kör kommando 命令 执行 运行 编译 コマンド 実行 スクリプト
jobs programs go on: job jobs background hintergrund auftrag aufträge arrière tâche abbrech brich segundo trabajo lavoro sfondo achtergrond taak trabalho zadanie tle jobb avbryt 作业 后台 ジョブ バックグラウンド
jobs cancel end: cancel abort abbrich abbrech beende brich annul arrête cancela interromp annulla interrompi stopp annuleer anuluj przerwij avbryt 取消 中止 キャンセル
git repository: git commit commits commited branch branches repo repository uncommitted merge staged checkout dépôt validées branche repositor zweig rama ramo gałą depozy 仓库 提交 分支 コミット ブランチ リポジトリ
git commit changes: commit committe einchecken valide consigna 提交 コミット
git changed diff: changed changes diff geändert änderungen modifi changement cambios cambiado modifiche cambiato wijziging gewijzigd alterações mudou zmian zmieni ändrat 更改 变更 変更
git log last commits: history historique verlauf geschichte historial cronologia geschiedenis histórico histori historik 历史 履歴
search web: web internet online google news headlines look-up netz nachrichten rezept internetsuche nouvelles actualités recette noticias receta rete notizie ricetta nieuws recept notícias receita wiadomości przepis nyheter 网上 新闻 网络搜索 ネット ニュース 検索
fetch page web: page website site url link http https html article seite webseite artikel site adresse pagina página artículo sito articolo artikel website strona stronę artykuł sida 网页 网站 ページ サイト
search documentation programming library code: documentation docs api library framework function programming code example syntax dokumentation doku bibliothek funktion programmier beispiel bibliothèque fonction exemple documentación librería función ejemplo documentazione libreria funzione esempio documentatie bibliotheek voorbeeld documentação biblioteca função exemplo dokumentacj bibliotek funkcj przykład 文档 库 函数 ドキュメント ライブラリ 関数
web page click browser: browser click button form login log-in sign fill submit klick formular anmelde einlogg knopf ausfüll füll browser clique bouton formulaire connecte connexion rempli navigateur clic botón formulario navegador rellena pulsa inicia clicca pulsante modulo accedi compila klik knop formulier inlog vul clique botão preencha kliknij przycisk formularz zaloguj klicka formulär logga 点击 浏览器 登录 表单 クリック ブラウザ ログイン フォーム
show user page html: chart diagram graph plot draw table drawing visualise html svg diagramm grafik kurve tabelle zeichne schaubild graphique courbe tableau dessine diagramme gráfico gráfica tabla dibuja diagrama grafico tabella disegna grafiek teken tabel gráfico tabela desenhe wykres tabel narysuj diagram rita 图表 表格 画 グラフ 表 描
ask user question: ask question choose decide frag frage wähle entscheid nachfrage rückfrage demande question choisi préfér pregunta pregúnt elige chiedi domanda scegli vraag kies pergunt escolh zapytaj pytanie wybier fråga 问我 询问 選ばせ 質問 聞いて 尋ねて
to-do list items: todo do to-do list checklist remind aufgabe aufgaben aufgabenliste erinner merke liste todoliste tâche tâches liste rappel tarea tareas lista recuérd compiti promemoria cose taken takenlijst lijst herinner tarefa lembre zadań zadania lista przypomn uppgift lista påminn 待办 清单 任务 タスク リスト やること
sub-agent task: subagent sub delegate unteragent unter delegier sous délègue agent délégu subagente delega sottoagente subagent delegeer subagente podagent deleguj underagent 子代理 委派 サブエージェント 任せ
skill instructions: skill skills instructions guide howto anleitung anweisung fähigkeit kompetenz vorgehen compétence instructions consigne mode habilidad instruccion guía abilità competenz istruzion vaardigheid instructie handleiding competência instruç umiejętn instrukcj färdighet 技能 说明 指南 スキル 手順
agents edge home other call find: agent agents device devices other others home room kitchen garage cellar basement garden bedroom bathroom livingroom attic office gerät geräte andere anderen küche keller garten schlafzimmer wohnzimmer badezimmer dachboden zuhause wohnung appareil autre autres cuisine cave jardin chambre salon maison bureau dispositivo otro otros cocina sótano jardín dormitorio salón casa altro altri cucina cantina giardino camera soggiorno apparaat andere keuken kelder tuin slaapkamer woonkamer huis outro outros cozinha jardim quarto sala urządzen inne kuchni piwnic ogrod sypialn salon enhet andra kök källare 设备 其他 厨房 客厅 卧室 车库 花园 デバイス 他の 台所 寝室 居間 庭
machines ssh add remove: machine machines ssh node nodes server remote maschine rechner computer server fern machine serveur ordinateur distant máquina servidor equipo remoto macchina server computer machine computer máquina maszyn serwer komputer maskin dator 机器 服务器 远程 マシン サーバー 遠隔
sessions session history: session sessions conversation sitzung sitzungen gespräch unterhaltung séance conversation discussion sesión conversación sessione conversazione sessie gesprek sessão conversa sesja sesji rozmow 会话 对话 セッション 会話
session message send: message send tell nachricht schick sende envoie message mensaje envía manda messaggio invia bericht stuur mensagem envie wiadomość wyślij meddelande skicka 消息 发送 メッセージ 送
spawn subagent session: spawn start begin starte beginne lance démarre commence inicia empieza avvia inizia begin inicie zacznij rozpocznij starta 开始 始め
`;

/** A file by its name. Its words say what is in it, not what is to be done. Machines of the home and sites are no files. */
const FILE =
  /(?<![\p{L}\p{N}/@.-])[\p{L}\p{N}_-]+\.(?!(?:local|lan|com|org|net|de|fr)\b)[a-z][a-z0-9]{0,4}(?!\.?[\p{L}\p{N}])/giu;

/** Signs of a topic that are no words. */
const SIGNS: ReadonlyArray<[sign: RegExp, english: string]> = [
  [/https?:\/\/|\bwww\./i, "fetch page web"],
  [/\.(?:jpe?g|png|gif|webp)\b/i, "picture vision"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[a-z0-9-]+\.(?:local|lan)\b/i, "ping host"],
  [/\bgpio ?\d/i, "gpio pin"],
];

const BEGINNING_FROM = 4;
const TAIL_MAX_OF_SHORT = 3;
const ANYWHERE_FROM = 6;
/** Scripts without blanks between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

type Topic = { english: string; words: readonly string[] };

const knownTopics = lazy((): readonly Topic[] =>
  TOPICS.trim()
    .split("\n")
    .map((line) => {
      const [english = "", words = ""] = line.split(": ");
      return { english, words: [...new Set(words.split(" ").map(fold))] };
    }),
);

/**
 * Tells what a text in any of the languages is about.
 * @returns topics: English words for each topic; words: the text without names of files
 */
export function topicsOf(text: string): { topics: string[]; words: string } {
  const words = text.replaceAll(FILE, " ");
  const said = wordsOf(words);
  const meant = knownTopics().filter((topic) =>
    said.some((word) => topic.words.some((form) => isForm(word, form))),
  );
  const signs = SIGNS.filter(([sign]) => sign.test(text));
  const topics = [...meant.map(({ english }) => english), ...signs.map(([, english]) => english)];
  return { topics: words === text ? topics : [...topics, "file reading"], words };
}

function isForm(word: string, form: string): boolean {
  if (UNSPACED.test(form)) return word.includes(form);
  if (word === form) return true;
  if (form.length < BEGINNING_FROM) return false;
  if (form.length >= ANYWHERE_FROM) return word.includes(form);
  const tail = word.length - form.length;
  return word.startsWith(form) && (form.length > BEGINNING_FROM || tail <= TAIL_MAX_OF_SHORT);
}
