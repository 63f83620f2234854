// The Python interface of the kernels: arrays in, arrays out; the interpreter lock is released while they run.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "cells.hpp"
#include "class_sizes.hpp"
#include "cover.hpp"
#include "csv_scan.hpp"
#include "cuts.hpp"
#include "grouping.hpp"
#include "histogram.hpp"
#include "k_optimize.hpp"
#include "least_loss/loss_cuts.hpp"
#include "least_loss/regroup.hpp"
#include "points.hpp"
#include "shelf.hpp"
#include "split_sets.hpp"
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

void bind_cuts(nb::module_& module) {
  nb::class_<kohorte::Cutter>(module, "Cutter")
      .def("__init__",
           [](kohorte::Cutter* self, const Matrix<kohorte::Code>& places,
              const std::vector<Starts>& ticks, const Starts& weights, const std::vector<Codes>& levels,
              kohorte::Count least, bool relaxed) {
             if (places.shape(1) != ticks.size()) throw std::invalid_argument("not whole rows");
             std::vector<std::vector<std::int64_t>> own_ticks;
             for (const auto& line : views(ticks)) own_ticks.emplace_back(line.begin(), line.end());
             const auto given = view(weights);
             std::vector<std::int64_t> own_weights(given.begin(), given.end());
             std::vector<std::vector<kohorte::Code>> own_levels;
             for (const auto& level : views(levels)) own_levels.emplace_back(level.begin(), level.end());
             unlocked([&] {
               return new (self) kohorte::Cutter({places.data(), places.size()}, std::move(own_ticks),
                                                 std::move(own_weights), std::move(own_levels), least, relaxed);
             });
           },
           "places"_a, "ticks"_a, "weights"_a, "levels"_a, "least"_a, "relaxed"_a)
      .def("propose",
           [](kohorte::Cutter& self, const Starts& begins, const Starts& ends, const Starts& attempts) {
             auto cuts = unlocked([&] { return self.propose(view(begins), view(ends), view(attempts)); });
             return nb::make_tuple(to_numpy(std::move(cuts.attributes)), to_numpy(std::move(cuts.boundaries)),
                                   to_numpy(std::move(cuts.left)));
           },
           "begins"_a, "ends"_a, "attempts"_a)
      .def("split",
           [](kohorte::Cutter& self, const Starts& begins, const Starts& ends, const Vector<std::int32_t>& attributes,
              const Codes& boundaries, const Counts& left) {
             nb::gil_scoped_release release;
             self.split(view(begins), view(ends), view(attributes), view(boundaries), view(left));
           },
           "begins"_a, "ends"_a, "attributes"_a, "boundaries"_a, "left"_a)
      .def("ids", [](const kohorte::Cutter& self) { return to_numpy(std::vector<kohorte::Code>(self.ids())); });
}

template <typename T>
std::vector<std::vector<T>> rows_of(const Matrix<T>& matrix) {
  std::vector<std::vector<T>> rows;
  for (std::size_t row = 0; row < matrix.shape(0); ++row) {
    const T* begin = matrix.data() + row * matrix.shape(1);
    rows.emplace_back(begin, begin + matrix.shape(1));
  }
  return rows;
}

template <typename T>
std::vector<T> copied(const Vector<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// The arguments that describe the rows to be grouped.
using AxisArrays = std::tuple<std::uint32_t, std::uint32_t, Counts, Counts, Matrix<kohorte::Code>, Matrix<kohorte::Count>>;
using MarkArrays = std::vector<std::pair<Codes, kohorte::Count>>;

kohorte::Grouped grouped(const Matrix<kohorte::Code>& places, const std::vector<AxisArrays>& axes, kohorte::Count least,
                         const MarkArrays& marks, std::vector<kohorte::Code> fixed, kohorte::Cost left_out) {
  if (places.shape(1) != axes.size()) throw std::invalid_argument("not whole rows");
  kohorte::Grouped table;
  table.places.assign(places.data(), places.data() + places.size());
  for (const auto& [kind, missing, first, second, groups, costs] : axes) {
    if (kind > kohorte::Axis::kMix) throw std::invalid_argument("an unknown kind of cells");
    table.axes.push_back({static_cast<kohorte::Axis::Kind>(kind), missing, copied(first), copied(second), rows_of(groups),
                          rows_of(costs)});
  }
  for (const auto& [codes, need] : marks) {
    table.marks.push_back(copied(codes));
    table.needs.push_back(need);
  }
  table.least = least;
  table.fixed = std::move(fixed);
  table.left_out = left_out;
  return table;
}

void bind_least_loss(nb::module_& module) {
  using kohorte::LossCutter, kohorte::Regrouper;
  nb::class_<LossCutter>(module, "LossCutter")
      .def("__init__",
           [](LossCutter* self, const Matrix<kohorte::Code>& places, const std::vector<AxisArrays>& axes,
              kohorte::Count least, bool relaxed) {
             new (self) LossCutter(grouped(places, axes, least, {}, {}, 0), relaxed);
           },
           "places"_a, "axes"_a, "least"_a, "relaxed"_a)
      .def("propose",
           [](LossCutter& self, const Starts& begins, const Starts& ends, const Starts& attempts) {
             auto cuts = unlocked([&] { return self.propose(view(begins), view(ends), view(attempts)); });
             return nb::make_tuple(to_numpy(std::move(cuts.attributes)), to_numpy(std::move(cuts.boundaries)),
                                   to_numpy(std::move(cuts.left)));
           },
           "begins"_a, "ends"_a, "attempts"_a)
      .def("split",
           [](LossCutter& self, const Starts& begins, const Starts& ends, const Vector<std::int32_t>& attributes,
              const Codes& boundaries, const Counts& left) {
             nb::gil_scoped_release release;
             self.split(view(begins), view(ends), view(attributes), view(boundaries), view(left));
           },
           "begins"_a, "ends"_a, "attributes"_a, "boundaries"_a, "left"_a)
      .def("ids", [](const LossCutter& self) { return to_numpy(self.ids()); });

  nb::class_<Regrouper>(module, "Regrouper")
      .def("__init__",
           [](Regrouper* self, const Matrix<kohorte::Code>& places, const std::vector<AxisArrays>& axes,
              kohorte::Count least, const MarkArrays& marks, const Codes& fixed, kohorte::Cost left_out) {
             new (self) Regrouper(grouped(places, axes, least, marks, copied(fixed), left_out));
           },
           "places"_a, "axes"_a, "least"_a, "marks"_a, "fixed"_a, "left_out"_a)
      .def("costs", [](const Regrouper& self, const Codes& group_of) {
             return to_numpy(unlocked([&] { return self.costs(view(group_of)); }));
           },
           "group_of"_a)
      .def("round",
           [](const Regrouper& self, const Codes& group_of, std::size_t groups, std::size_t rows, std::size_t may_leave,
              std::uint64_t seed, std::size_t threads, double seconds) {
             return to_numpy(unlocked([&] {
               return self.round(view(group_of), {groups, rows, 1}, may_leave, seed, threads, seconds);
             }));
           },
           "group_of"_a, "groups"_a, "rows"_a, "may_leave"_a, "seed"_a, "threads"_a, "seconds"_a);
}

nb::tuple to_tuple(kohorte::PointAnswers&& answers) {
  return nb::make_tuple(to_matrix(std::move(answers.points), kohorte::kPointBytes), answers.first_refused);
}

using Address = std::uintptr_t;

template <typename Function>
void point(Function*& function, Address address) {
  function = reinterpret_cast<Function*>(address);
}

void bind_points(nb::module_& module) {
  using kohorte::PointAnswers, kohorte::PointRows, kohorte::Ristretto;
  using Bytes = Matrix<std::uint8_t>;
  static const auto rows = [](const Bytes& all) { return PointRows(all.data(), all.shape(0), all.shape(1)); };
  auto ristretto = nb::class_<Ristretto>(module, "Ristretto");
  ristretto.def("__init__",
                [](Ristretto* self, Address multiply, Address multiply_base, Address add, Address subtract,
                   Address from_hash, Address is_valid) {
                  kohorte::PointFunctions library{};
                  point(library.multiply, multiply);
                  point(library.multiply_base, multiply_base);
                  point(library.add, add);
                  point(library.subtract, subtract);
                  point(library.from_hash, from_hash);
                  point(library.is_valid, is_valid);
                  new (self) Ristretto(library);
                },
                "multiply"_a, "multiply_base"_a, "add"_a, "subtract"_a, "from_hash"_a, "is_valid"_a);

  const auto define_one = [&](const char* name, PointAnswers (Ristretto::*run)(PointRows) const) {
    ristretto.def(name, [run](const Ristretto& self, const Bytes& all) {
      return to_tuple(unlocked([&] { return (self.*run)(rows(all)); }));
    });
  };
  define_one("multiply_base", &Ristretto::multiply_base);
  define_one("from_hash", &Ristretto::from_hash);

  const auto define_two = [&](const char* name, PointAnswers (Ristretto::*run)(PointRows, PointRows) const) {
    ristretto.def(name, [run](const Ristretto& self, const Bytes& one, const Bytes& other) {
      return to_tuple(unlocked([&] { return (self.*run)(rows(one), rows(other)); }));
    });
  };
  define_two("multiply", &Ristretto::multiply);
  define_two("add", &Ristretto::add);
  define_two("subtract", &Ristretto::subtract);

  ristretto.def("first_invalid", [](const Ristretto& self, const Bytes& points) {
    return unlocked([&] { return self.first_invalid(rows(points)); });
  });
  ristretto.def("sum_groups", [](const Ristretto& self, const Bytes& all, const Codes& group_of, std::size_t groups) {
    return to_tuple(unlocked([&] { return self.sum_groups(rows(all), view(group_of), groups); }));
  });
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

// A job of a worker. It reads Python arrays, which are kept alive until it has finished.
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

void bind_split_sets(nb::module_& module) {
  using kohorte::SplitSets;
  using Chosen = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  const auto flags = [](const Chosen& chosen) {
    return std::span(reinterpret_cast<const std::uint8_t*>(chosen.data()), chosen.shape(0));
  };
  const auto to_array = [](const std::vector<kohorte::Count>& costs) {
    return to_numpy(std::vector<double>(costs.begin(), costs.end()));
  };

  nb::class_<SplitSets>(module, "SplitSets")
      .def("__init__",
           [](SplitSets* self, const Matrix<kohorte::Code>& positions, const Counts& weights, const Codes& sizes,
              const Matrix<kohorte::Count>& labels, kohorte::Count k, kohorte::Count limit, bool by_label) {
             if (positions.shape(0) != weights.shape(0)) throw std::invalid_argument("positions and weights differ");
             if (positions.shape(1) != sizes.shape(0)) throw std::invalid_argument("positions and sizes differ");
             if (labels.shape(0) != weights.shape(0)) throw std::invalid_argument("labels and weights differ");
             new (self) SplitSets({positions.data(), positions.size()}, view(weights), view(sizes),
                                  {labels.data(), labels.size()}, labels.shape(1), k, limit, by_label);
           },
           "positions"_a, "weights"_a, "sizes"_a, "labels"_a, "k"_a, "limit"_a, "by_label"_a)
      .def_prop_ro("splits", &SplitSets::splits)
      .def("cost",
           [flags](const SplitSets& self, const Chosen& chosen) {
             const auto found = unlocked([&] { return self.result(flags(chosen)); });
             return nb::make_tuple(static_cast<double>(found.cost), found.suppressed, found.kept_classes);
           },
           "chosen"_a)
      .def("neighbours",
           [flags, to_array](const SplitSets& self, const Chosen& chosen) {
             auto [costs, suppressed] = unlocked([&] { return self.neighbours(flags(chosen)); });
             return nb::make_tuple(to_array(costs), to_numpy(std::move(suppressed)));
           },
           "chosen"_a)
      .def("optimize",
           [flags](const SplitSets& self, const Chosen& start, double seconds, const nb::object& watch) {
             const auto ask = [&watch](std::int64_t visited, kohorte::Count best, kohorte::Count lower) {
               nb::gil_scoped_acquire acquire;
               if (PyErr_CheckSignals() != 0) throw nb::python_error();
               if (watch.is_none()) return true;
               return !watch(visited, static_cast<double>(best), static_cast<double>(lower)).is(nb::handle(Py_False));
             };
             const auto found = unlocked([&] { return kohorte::KOptimize(self, flags(start), seconds, ask).run(); });
             auto* best = new std::vector<std::uint8_t>(found.best);
             nb::capsule owner(best, [](void* all) noexcept { delete static_cast<std::vector<std::uint8_t>*>(all); });
             Array<bool> chosen(reinterpret_cast<bool*>(best->data()), {best->size()}, owner);
             return nb::make_tuple(chosen, static_cast<double>(found.cost), static_cast<double>(found.lower_bound),
                                   found.complete, found.visited);
           },
           "start"_a, "seconds"_a, "watch"_a.none());
}

}  // namespace

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);  // objects that live until Python exits are not leaks
  bind_histograms(module);
  bind_cuts(module);
  bind_least_loss(module);
  bind_points(module);
  bind_split_sets(module);

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
