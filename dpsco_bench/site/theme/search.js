// What the search puts first: pages whose title or name holds every word and number of the question, "4.2" as one number.
// Of others first the guide, which says what words mean.
// Sphinx splits "4.2", asks for no word below three letters, and gives all titles with "Theorem" the same score.
const SPELLED = { thm: "theorem", theorems: "theorem", prop: "proposition", propositions: "proposition",
    cor: "corollary", lem: "lemma", fig: "figure", alg: "algorithm", tab: "table" };

function tokens(words) {
    const apart = words.toLowerCase().replace(/([a-z])\.(?=[a-z])/g, "$1 ")
        .replace(/\b(thm|prop|cor|lemma|lem|fig|alg|table|tab)\.?(?=\d)/g, "$1 ").replace(/(\d{4})\.(?=[a-z])/g, "$1 ");
    return (apart.match(/[\p{L}\p{N}]+(?:\.\d+)*/gu) ?? []).map((word) => SPELLED[word] ?? word);
}

var Scorer = {
    // Above every score of Sphinx's. Of such pages first the one of which the question names the largest part, where
    // its words stand together, or where it is the page's very name.
    score: ([docname, title, , , score]) => {
        const question = (new URLSearchParams(window.location.search).get("q") ?? "").toLowerCase().trim();
        const asked = tokens(question);
        const head = tokens(title.split(": ")[0]);
        const known = new Set([...head, ...tokens(title), ...tokens(docname)]);
        const guide = { "guide/start": 40, "guide/glossary": 30, "guide/reading": 25 }[docname] ?? (docname.startsWith("guide/") ? 20 : 0);
        if (!asked.length || !asked.every((word) => known.has(word))) return score + guide;
        const told = asked.filter((word) => head.includes(word));
        const together = told.length && ` ${head.join(" ")} `.includes(` ${told.join(" ")} `);
        const named = docname.split("/").pop() === question;
        return 100 + score + (50 * new Set(told).size) / head.length + 20 * !!together + 100 * named;
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};
