module flotilla/bench/gateway

go 1.23
