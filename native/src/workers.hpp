// Threads that wait for jobs and do them in order of arrival.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace kohorte {

class Workers {
 public:
  // If the system provides fewer threads, those do the work.
  explicit Workers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;
      }
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Jobs that have not been started are dropped; the others are finished.
  ~Workers() {
    {
      std::scoped_lock lock(mutex_);
      ending_ = true;
      jobs_.clear();
    }
    waiting_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  template <typename Run>
  auto submit(Run run) -> std::future<decltype(run())> {
    auto task = std::make_shared<std::packaged_task<decltype(run())()>>(std::move(run));
    auto result = task->get_future();
    {
      std::scoped_lock lock(mutex_);
      jobs_.emplace_back([task] { (*task)(); });
      ++queued_;
    }
    waiting_.notify_one();
    return result;
  }

 private:
  static constexpr std::chrono::microseconds kPatience{200};

  void work() {
    for (;;) {
      look_out();
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        waiting_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
        if (ending_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
        --queued_;
      }
      job();
    }
  }

  // Waits actively for a moment: during a search, the next job arrives before a sleeping thread could wake up.
  void look_out() const {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (queued_.load(std::memory_order_relaxed) == 0 && !ending_.load(std::memory_order_relaxed)) {
      if (std::chrono::steady_clock::now() > until) return;
      std::this_thread::yield();
    }
  }

  std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<std::function<void()>> jobs_;
  std::atomic<std::size_t> queued_{0};
  std::atomic<bool> ending_{false};
  std::vector<std::thread> threads_;
};

}  // namespace kohorte
