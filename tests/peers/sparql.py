"""Asks a SPARQL endpoint with SPARQLWrapper and rdflib, as their users do.

usage: sparql.py URL
"""
import sys

import rdflib
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import CSV, JSON, TURTLE, XML, SPARQLWrapper

url = sys.argv[1] + "/sparql"
LABELS = """PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?thing ?label WHERE { ?thing rdfs:label ?label } ORDER BY ?thing ?label LIMIT 25"""


def wrapper(query, form):
    asked = SPARQLWrapper(url)
    asked.setQuery(query)
    asked.setReturnFormat(form)
    return asked


rows = wrapper(LABELS, JSON).queryAndConvert()["results"]["bindings"]
assert len(rows) == 25, len(rows)
xml = wrapper(LABELS, XML).queryAndConvert()
assert len(xml.getElementsByTagName("result")) == 25
assert len(wrapper(LABELS, CSV).queryAndConvert().decode().strip().splitlines()) == 26
posted = wrapper(LABELS, JSON)
posted.setMethod("POST")
assert posted.queryAndConvert()["results"]["bindings"] == rows
assert wrapper("ASK { ?s ?p ?o }", JSON).queryAndConvert()["boolean"] is True
graph = rdflib.Graph().parse(
    data=wrapper("CONSTRUCT WHERE { ?s ?p ?o } LIMIT 40", TURTLE).queryAndConvert(), format="turtle"
)
assert len(graph) == 40, len(graph)

store = rdflib.Graph(SPARQLStore(url))
found = {(str(row[0]), str(row[1])) for row in store.query(LABELS)}
assert found == {(row["thing"]["value"], row["label"]["value"]) for row in rows}
label = rdflib.RDFS.label
thing = rdflib.URIRef(rows[0]["thing"]["value"])
assert rdflib.Literal(rows[0]["label"]["value"]) in {rdflib.Literal(str(o)) for o in store.objects(thing, label)}

# A linked-data client follows a name by itself, whatever host the catalogue will have one day.
path = "/" + str(thing).split("/", 3)[3]
described = rdflib.Graph().parse(sys.argv[1] + path.split("#")[0])
assert len(described) > 0
print("ok")
