// The Python face of the kernels: arrays in, arrays out, the interpreter lock released while they work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "cells.hpp"
#include "class_sizes.hpp"
#include "cover.hpp"
#include "csv_scan.hpp"
#include "grouping.hpp"
#include "histogram.hpp"
#include "shelf.hpp"
#include "tree.hpp"
#include "workers.hpp"

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

template <typename T>
std::vector<std::span<const T>> views(const std::vector<Vector<T>>& arrays) {
  std::vector<std::span<const T>> all;
  for (const auto& array : arrays) all.push_back(view(array));
  return all;
}

// Calls a kernel without the interpreter lock.
template <typename Kernel>
auto unlocked(Kernel kernel) {
  nb::gil_scoped_release release;
  return kernel();
}

using Starts = Vector<std::int64_t>;
using Codes = Vector<kohorte::Code>;
using Counts = Vector<kohorte::Count>;

void bind_histograms(nb::module_& module) {
  module.def(
      "sort_cells",
      [](const Codes& class_of, std::int64_t classes) {
        auto sorted = unlocked([&] { return kohorte::sort_cells(view(class_of), classes); });
        return nb::make_tuple(to_numpy(std::move(sorted.starts)), to_numpy(std::move(sorted.order)));
      },
      "class_of"_a, "classes"_a);

  module.def(
      "top_counts",
      [](const Starts& starts, const Counts& counts, std::int64_t places) {
        auto tops = unlocked([&] { return kohorte::top_counts(view(starts), view(counts), places); });
        return nb::make_tuple(to_numpy(std::move(tops.largest)), to_numpy(std::move(tops.sums)));
      },
      "starts"_a, "counts"_a, "places"_a);

  module.def(
      "entropies",
      [](const Starts& starts, const Counts& counts) {
        return to_numpy(unlocked([&] { return kohorte::entropies(view(starts), view(counts)); }));
      },
      "starts"_a, "counts"_a);

  const auto define_distance = [&module](const char* name, auto distance) {
    module.def(
        name,
        [distance](const Starts& starts, const Codes& values, const Counts& counts, const Counts& overall) {
          return to_numpy(unlocked([&] { return distance(view(starts), view(values), view(counts), view(overall)); }));
        },
        "starts"_a, "values"_a, "counts"_a, "overall"_a);
  };
  define_distance("equal_distance", &kohorte::equal_distance);
  define_distance("ordered_distance", &kohorte::ordered_distance);

  nb::class_<kohorte::Tree>(module, "Tree")
      .def("__init__",
           [](kohorte::Tree* self, const std::vector<Codes>& maps, const Counts& overall) {
             unlocked([&] { return new (self) kohorte::Tree(views(maps), view(overall)); });
           },
           "maps"_a, "overall"_a)
      .def("distances",
           [](const kohorte::Tree& self, const Starts& starts, const Codes& values, const Counts& counts) {
             return to_numpy(unlocked([&] { return self.distances(view(starts), view(values), view(counts)); }));
           },
           "starts"_a, "values"_a, "counts"_a)
      .def("removals",
           [](const kohorte::Tree& self, const Starts& starts, const Codes& values, const Counts& counts,
              const Vector<double>& distances, double most) {
             return to_numpy(unlocked([&] {
               return self.removals(view(starts), view(values), view(counts), view(distances), most);
             }));
           },
           "starts"_a, "values"_a, "counts"_a, "distances"_a, "most"_a);
}

nb::tuple to_tuple(kohorte::Grouping&& found) {
  return nb::make_tuple(to_numpy(std::move(found.ids)), to_numpy(std::move(found.representatives)),
                        to_numpy(std::move(found.sizes)));
}

nb::tuple to_tuple(kohorte::Cells&& found) {
  return nb::make_tuple(to_numpy(std::move(found.representatives)), to_numpy(std::move(found.sizes)),
                        to_numpy(std::move(found.starts)), to_numpy(std::move(found.values)),
                        to_numpy(std::move(found.counts)), to_numpy(std::move(found.first)));
}

// What a worker is doing. It reads arrays of Python, which are kept until it has finished.
template <typename Result>
class Job {
 public:
  Job(std::future<Result> result, nb::tuple kept) : result_(std::move(result)), kept_(std::move(kept)) {}
  Job(Job&&) noexcept = default;
  Job& operator=(Job&&) = delete;
  ~Job() {
    if (!result_.valid()) return;
    nb::gil_scoped_release release;
    result_.wait();
  }

  nb::tuple result() {
    if (!result_.valid()) throw std::invalid_argument("a result is given once");
    return to_tuple(unlocked([&] { return result_.get(); }));
  }

 private:
  std::future<Result> result_;
  nb::tuple kept_;
};

template <typename Result>
void bind_job(nb::module_& module, const char* name) {
  nb::class_<Job<Result>>(module, name).def("result", &Job<Result>::result);
}

void bind_workers(nb::module_& module) {
  bind_job<kohorte::Grouping>(module, "GroupJob");
  bind_job<kohorte::Cells>(module, "CellsJob");
  nb::class_<kohorte::Workers>(module, "Workers")
      .def(nb::init<std::size_t>(), "count"_a)
      .def("group",
           [](kohorte::Workers& self, kohorte::Grouper& grouper, const kohorte::Rows& rows, const Counts& weights,
              const Codes& levels) {
             auto work = [&grouper, &rows, weights = view(weights), levels = view(levels)] {
               return grouper.group(rows, weights, levels, false);
             };
             nb::tuple kept = nb::make_tuple(nb::find(grouper), nb::find(rows), weights, levels);
             return Job(self.submit(work), std::move(kept));
           },
           "grouper"_a, "rows"_a, "weights"_a, "levels"_a)
      .def("cells",
           [](kohorte::Workers& self, kohorte::Grouper& grouper, const kohorte::Rows& rows, const Counts& weights,
              const Codes& levels, std::size_t attribute) {
             auto work = [&grouper, &rows, weights = view(weights), levels = view(levels), attribute] {
               return kohorte::count_cells(grouper, rows, weights, levels, attribute);
             };
             nb::tuple kept = nb::make_tuple(nb::find(grouper), nb::find(rows), weights, levels);
             return Job(self.submit(work), std::move(kept));
           },
           "grouper"_a, "rows"_a, "weights"_a, "levels"_a, "attribute"_a);
}

}  // namespace

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);  // objects that live until Python ends are no leak
  bind_histograms(module);

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
             return to_tuple(unlocked([&] { return self.group(rows, view(weights), view(levels), want_ids); }));
           },
           "rows"_a, "weights"_a, "levels"_a, "want_ids"_a)
      .def("cells",
           [](kohorte::Grouper& self, const kohorte::Rows& rows, const Vector<kohorte::Count>& weights,
              const Vector<std::uint32_t>& levels, std::size_t attribute) {
             return to_tuple(unlocked([&] {
               return kohorte::count_cells(self, rows, view(weights), view(levels), attribute);
             }));
           },
           "rows"_a, "weights"_a, "levels"_a, "attribute"_a);

  bind_workers(module);

  nb::class_<kohorte::Shelf>(module, "Shelf")
      .def(nb::init<std::size_t, std::size_t>(), "axes"_a, "places"_a)
      .def("find", [](kohorte::Shelf& self, const std::vector<std::size_t>& node) { return self.find(node); }, "node"_a)
      .def("put",
           [](kohorte::Shelf& self, const std::vector<std::size_t>& node, std::int64_t rows) {
             return self.put(node, rows);
           },
           "node"_a, "rows"_a);

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
      "summarize",
      [](const Counts& sizes, const nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>& kept,
         kohorte::Count least) {
        const auto* flags = reinterpret_cast<const std::uint8_t*>(kept.data());
        const auto summary = kohorte::summarize(view(sizes), {flags, kept.shape(0)}, least);
        return nb::make_tuple(summary.kept_rows, summary.kept_classes, summary.smallest_kept, summary.small_rows);
      },
      "sizes"_a, "kept"_a, "least"_a);

  module.def(
      "best_covers",
      [](const std::vector<std::size_t>& shape, const Vector<std::uint8_t>& open, const Vector<std::uint8_t>& barred,
         const Vector<double>& left, const Vector<double>& right, bool upward, std::size_t most) {
        const auto covers = unlocked([&] {
          return kohorte::best_covers(shape, view(open), view(barred), view(left), view(right), upward, most);
        });
        nb::list found;
        for (const auto& cover : covers) found.append(nb::make_tuple(cover.index, cover.gain));
        return found;
      },
      "shape"_a, "open"_a, "barred"_a, "left"_a, "right"_a, "upward"_a, "most"_a);

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
