// The Python face of the kernels: arrays in, arrays out, the interpreter lock released while they work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "cover.hpp"
#include "csv_scan.hpp"
#include "grouping.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <typename T>
Array<T> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return Array<T>(owned->data(), {owned->size()}, owner);
}

template <typename T>
auto to_matrix(std::vector<T>&& values, std::size_t columns) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::ndarray<nb::numpy, T, nb::ndim<2>>(owned->data(), {owned->size() / columns, columns}, owner);
}

template <typename T>
std::span<const T> view(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

}  // namespace

NB_MODULE(_native, module) {
  nb::class_<kohorte::Rows>(module, "Rows")
      .def("__len__", &kohorte::Rows::size)
      .def("take", [](const kohorte::Rows& self, const Vector<kohorte::Code>& selected) {
        return self.take(view(selected));
      }, "selected"_a);

  nb::class_<kohorte::Grouper>(module, "Grouper")
      .def("__init__",
           [](kohorte::Grouper* self, const std::vector<std::vector<Vector<kohorte::Code>>>& maps) {
             kohorte::Grouper::Maps copied;
             for (const auto& levels : maps) {
               auto& attribute = copied.emplace_back();
               for (const auto& map : levels) attribute.emplace_back(map.data(), map.data() + map.shape(0));
             }
             new (self) kohorte::Grouper(std::move(copied));
           },
           "maps"_a)
      .def("pack",
           [](const kohorte::Grouper& self, const Matrix<kohorte::Code>& codes) {
             if (codes.shape(1) != self.attributes()) throw std::invalid_argument("not whole rows");
             return self.pack({codes.data(), codes.size()});
           },
           "codes"_a)
      .def("unpack",
           [](const kohorte::Grouper& self, const kohorte::Rows& rows) {
             return to_matrix(self.unpack(rows), self.attributes());
           },
           "rows"_a)
      .def("group",
           [](kohorte::Grouper& self, const kohorte::Rows& rows, const Vector<kohorte::Count>& weights,
              const Vector<std::uint32_t>& levels, bool want_ids) {
             kohorte::Grouping result;
             {
               nb::gil_scoped_release release;
               result = self.group(rows, view(weights), view(levels), want_ids);
             }
             return nb::make_tuple(to_numpy(std::move(result.ids)), to_numpy(std::move(result.representatives)),
                                   to_numpy(std::move(result.sizes)));
           },
           "rows"_a, "weights"_a, "levels"_a, "want_ids"_a);

  nb::class_<kohorte::Guess>(module, "Guess")
      .def("__init__",
           [](kohorte::Guess* self, std::vector<std::size_t> shape, const Vector<double>& mean,
              const Vector<double>& deviation) {
             new (self) kohorte::Guess(std::move(shape), view(mean), view(deviation));
           },
           "shape"_a, "mean"_a, "deviation"_a)
      .def("at", [](kohorte::Guess& self, const std::vector<std::size_t>& node) { return self.at(node); }, "node"_a)
      .def("learn",
           [](kohorte::Guess& self, const std::vector<std::size_t>& node, double seen, double variance) {
             self.learn(node, seen, variance);
           },
           "node"_a, "seen"_a, "variance"_a)
      .def("scores",
           [](const kohorte::Guess& self, double threshold, double spread) {
             auto [left, right] = self.scores(threshold, spread);
             return nb::make_tuple(to_numpy(std::move(left)), to_numpy(std::move(right)));
           },
           "threshold"_a, "spread"_a);

  module.def(
      "best_cover",
      [](const std::vector<std::size_t>& shape, const Vector<std::uint8_t>& open, const Vector<std::uint8_t>& barred,
         const Vector<double>& left, const Vector<double>& right, bool upward) {
        kohorte::Cover cover;
        {
          nb::gil_scoped_release release;
          cover = kohorte::best_cover(shape, view(open), view(barred), view(left), view(right), upward);
        }
        return nb::make_tuple(cover.index, cover.gain);
      },
      "shape"_a, "open"_a, "barred"_a, "left"_a, "right"_a, "upward"_a);

  module.def(
      "least_likely",
      [](const Vector<double>& values, const Vector<std::uint8_t>& open, const Vector<std::uint8_t>& sure,
         const Vector<double>& left, const Vector<double>& right) {
        nb::gil_scoped_release release;
        return kohorte::least_likely(view(values), view(open), view(sure), view(left), view(right));
      },
      "values"_a, "open"_a, "sure"_a, "left"_a, "right"_a);

  module.def(
      "csv_scan",
      [](const Vector<std::uint8_t>& data, std::uint8_t separator, std::uint64_t fields) {
        kohorte::CsvScan scan;
        {
          nb::gil_scoped_release release;
          scan = kohorte::csv_scan(view(data), separator, fields);
        }
        return nb::make_tuple(scan.records, scan.fields, scan.first_bad_record, scan.first_bad_line,
                              scan.first_bad_fields, scan.bad_records, scan.quote_error_line, scan.skipped_lines);
      },
      "data"_a, "separator"_a, "fields"_a);
}
