module flotilla.dev/bench/client

go 1.23
