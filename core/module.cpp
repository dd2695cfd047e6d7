// The module that Python imports.
// Not for: the functions in it; each bind_*.cpp adds some.
#include "binding.h"
#include "guard.h"

NB_MODULE(_core, m) {
  using namespace shadow;
  m.doc() =
      "Compiled core of shadow_gnn: scopes, batches and row look-ups on CSR arrays, sums along the edges of a batch.";
  // A tensor that is alive when Python ends may hold the edges of its batch; that is no leak worth a message.
  nb::set_leak_warnings(false);
  array_type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  nb::exception<CorruptGraph>(m, "CorruptGraph", PyExc_RuntimeError);
  nb::exception<FileChanged>(m, "FileChanged", PyExc_RuntimeError);
  nb::exception<Stopped>(m, "Stopped", PyExc_RuntimeError);

  nb::class_<GraphView>(m, "GraphView", "Borrowed CSR arrays of a graph.")
      .def(nb::init<In1<int64_t>, std::variant<In1<int32_t>, In1<int64_t>>, std::optional<In1<float>>, bool>(),
           Guarded(), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
           nb::arg("weight").noconvert().none(), nb::arg("symmetric"));
  bind_changes(m);
  bind_scopes(m);
  bind_batches(m);
  bind_rows(m);
  bind_maps(m);
  bind_names(m);
  bind_edges(m);
  bind_saint(m);
  bind_generate(m);
}
