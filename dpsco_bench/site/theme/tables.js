// Long tables can be sorted by a column and filtered by words. The library is loaded by pages that have such a table.
const POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// The number that a cell begins with, as people write it: −1.5, 1,024, 3.2×10⁻⁴, ≥ 1.4×10⁴; nothing sorts last.
function leadingNumber(html) {
    const words = html.replace(/<[^>]*>/g, "").replace(/(\d),(?=\d{3})/g, "$1").replace(/−/g, "-").replace(/∞/g, "1e999");
    const plain = words.replace(/(?:(\d)×)?10(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g,
        (_, lead, sign, power) => `${lead ?? "1"}e${sign && "-"}${[...power].map((c) => POWERS.indexOf(c)).join("")}`);
    const found = plain.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/);
    return found ? Number(found[0]) : Infinity;
}

function improve(table, DataTable) {
    const numeric = [...table.querySelectorAll("thead th")].flatMap((head, place) =>
        head.classList.contains("text-right") ? [place] : []);
    new DataTable(table, {
        paging: false,
        order: [],
        autoWidth: false,
        layout: { topStart: "search", topEnd: "info", bottomStart: null, bottomEnd: null },
        language: {
            search: "", searchPlaceholder: "Filter rows",
            info: "_TOTAL_ rows", infoEmpty: "no row", infoFiltered: "of _MAX_",
        },
        columnDefs: [{
            targets: numeric,
            type: "num",
            render: (cell, type) => (type === "sort" || type === "type" ? leadingNumber(cell) : cell),
        }],
    });
}

// How much of a wide table lies out of sight, above it.
function tell(box) {
    const said = Object.assign(document.createElement("p"), { className: "note" });
    box.before(said);
    const look = () => {
        const edge = box.getBoundingClientRect().right + 1;
        const heads = [...box.querySelectorAll("thead th")].map((head) => head.getBoundingClientRect().right > edge);
        const hidden = heads.filter(Boolean).length;
        said.textContent = hidden ? `${hidden} of ${heads.length} columns lie to the right: scroll the table sideways →` : "";
        said.hidden = box.scrollWidth <= box.clientWidth + 1;
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box.querySelector("table"));
}

// Of a finding "On this page" has its number and first clause; the heading has the rest.
function shorten(entry) {
    const title = entry.textContent.trim();
    const clause = title.match(/^\d+\. .*?(?=[,;:] |$)/)?.[0];
    if (!clause) return;
    const short = clause.length > 60 ? clause.slice(0, 60).replace(/\s+\S*$/, "") : clause;
    if (short !== title) entry.textContent = `${short} …`;
}

document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".page-toc a").forEach(shorten);
    document.querySelectorAll(".pst-scrollable-table-container").forEach(tell);
    const tables = document.querySelectorAll("table.sortable");
    const own = document.querySelector('script[src*="tables.js"]');
    if (!tables.length || !own) return;
    const script = document.createElement("script");
    script.src = own.src.replace(/tables\.js.*$/, "datatables.js");
    script.onload = async () => {
        const bytes = Uint8Array.from(atob(window.dataTablesBundle), (c) => c.charCodeAt(0));
        const library = await import(URL.createObjectURL(new Blob([bytes], { type: "text/javascript" })));
        tables.forEach((table) => improve(table, library.default));
    };
    document.head.append(script);
});
